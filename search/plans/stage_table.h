// StageTable: what any run of layers takes and holds on any devices that a stage could have, for
// drafts that share everything but their stages.
//
// A stage is priced by the best groups of its places in a pool (ShardPlaces), over the first few
// dozen places and as if all stages were as large as it is. Its groups may be worse where it
// finally lies, and with stages of several sizes better, so this is an estimate: it decides which
// plans are simulated, and nothing that is called proven rests on it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/layer_times.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"

namespace stagecraft {

// The share of a device's memory that states and saved activations may take if nothing is
// simulated: the rest is for temporaries, messages and what the allocator leaves between tensors.
inline constexpr double kUsableMemory = 0.92;

// A choice of devices that a stage can be given.
struct StageChoice {
  int pool = 0;
  int tensor = 1;
  int replicas = 1;
  Recompute recompute = Recompute::kNone;
  friend auto operator<=>(const StageChoice&, const StageChoice&) = default;
};

class StageTable {
 public:
  // Takes everything from `shape` but the stages, which have as many replicas; on unlike GPU types
  // also half as many with twice the tensor ranks, or twice as many. The problem must outlive it.
  // It has every choice that the cluster has room for, that the problem allows and by which the
  // network divides.
  StageTable(const SearchProblem& problem, const PlanDraft& shape);

  const PlanDraft& shape() const { return shape_; }
  int replicas() const { return replicas_; }  // of a stage, usually
  const std::vector<StageChoice>& choices() const { return choices_; }
  // The choice that `stage` has been given; no value for a stage that lies in several pools.
  std::optional<int> Find(const DraftStage& stage) const;
  // A stage of `blocks` on a choice.
  DraftStage Stage(int choice, int blocks) const;
  int64_t micro_batches() const { return micro_batches_; }  // of one of the usual replicas
  int blocks() const { return blocks_; }
  // How many devices of the choice's pool a stage takes.
  int devices(int choice) const;

  // Forward and backward of one micro-batch through `count` transformer blocks from `first` on,
  // with the embedding before block 0 and the head after the last; of the device alone. If there
  // are r times as many replicas as usual it is 1/r of that, which is the time that a replica has.
  Duration Time(int choice, int first, int count) const;
  // What a device holds of them by states, saved activations of `in_flight` micro-batches of a
  // usual replica, and context; as a share of its memory.
  double MemoryShare(int choice, int first, int count, double in_flight) const;

 private:
  struct Sums {  // by number of layers
    std::vector<Duration> time;
    std::vector<int64_t> states, saved;  // bytes
    Bytes memory;
  };
  // Adds choices of tensor ranks and recomputation in a pool, with each number of replicas.
  void AddChoices(int pool, int tensor, Recompute recompute);
  // The times of one micro-batch: for each kind of layer the least over the choice's places.
  std::vector<LayerTimes> LeastTimes(const StageChoice& choice) const;
  // `probe` is a plan of one stage that has been given the choice.
  Sums Measure(const StageChoice& choice, const Plan& probe) const;
  // The sums of the same layers with other states.
  Sums WithStates(Sums sums, const Plan& probe) const;

  const SearchProblem& problem_;
  const PlanDraft shape_;
  const int replicas_;
  const int blocks_;
  const int64_t micro_batches_;
  const std::vector<Pool> pools_;
  std::vector<StageChoice> choices_;
  std::vector<Sums> sums_;  // by choice
};

// How many micro-batches stage `stage` of `stages` holds at most, by the warm-up of the usual
// pipeline schedules; those with chunks count a part for each.
double InFlight(const PlanDraft& shape, int stages, int stage, int64_t micro_batches);

}  // namespace stagecraft
