// StageTable: how long any run of layers takes, and how much memory it holds, on any devices that a
// stage could have; for drafts that share everything but their stages.
//
// The time of a stage is that of the best groups that it may have in a pool (ShardPlaces), among
// the first few dozen places and as if all stages had as many devices. Where the stage finally lies
// its groups may be worse, or better if stages have different sizes. So this is an estimate: it
// decides which plans are simulated, and nothing that is called proven rests on it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/layer_times.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"

namespace stagecraft {

// The share of a device's memory that states and saved activations may take in a plan that is not
// simulated: the rest is for temporaries, messages and fragmentation.
inline constexpr double kUsableMemory = 0.92;

// StageChoice is a choice of devices that a stage can be given.
struct StageChoice {
  int pool = 0;
  int tensor = 1;
  int replicas = 1;
  Recompute recompute = Recompute::kNone;
  friend auto operator<=>(const StageChoice&, const StageChoice&) = default;
};

// StageMemo remembers what layers take and hold on the devices of choices, which tables of several
// shapes have in common. Its methods may be called from any thread.
class StageMemo {
 public:
  // For one micro-batch, by kind of layer.
  struct Layers {
    std::vector<LayerTimes> times;  // the least over the choice's places
    std::vector<Bytes> saved;
  };

  // The problem must outlive it.
  explicit StageMemo(const SearchProblem& problem) : problem_(problem) {}

  // `probe` is a plan of one stage that has been given the choice. The references are valid as long
  // as this object.
  const Layers& LayersOf(const PlanDraft& shape, const StageChoice& choice, const Plan& probe);
  // Returns the states of each kind of layer on one device.
  const std::vector<Bytes>& StatesOf(const PlanDraft& shape, const StageChoice& choice,
                                     const Plan& probe);

 private:
  using Key = std::array<int64_t, 10>;
  Layers Measure(const PlanDraft& shape, const StageChoice& choice, const Plan& probe) const;

  const SearchProblem& problem_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<const Layers>> layers_;
  std::map<Key, std::unique_ptr<const std::vector<Bytes>>> states_;
};

class StageTable {
 public:
  // Takes everything from `shape` except its stages. Stages may have as many replicas as in
  // `shape`; on unlike GPU types also twice as many or, with an even tensor degree, half as many.
  // The table has every choice that the cluster has room for, that the problem allows and that
  // divides the network. The problem must outlive it. The memo must be one of this problem.
  StageTable(const SearchProblem& problem, const PlanDraft& shape, StageMemo& memo);
  // Does the same with a memo of its own.
  StageTable(const SearchProblem& problem, const PlanDraft& shape);

  const PlanDraft& shape() const { return shape_; }
  int replicas() const { return replicas_; }  // the usual number: that of the shape
  const std::vector<StageChoice>& choices() const { return choices_; }
  // Returns the choice that `stage` has been given; no value for a stage that lies in several pools
  // or has none of these choices.
  std::optional<int> Find(const DraftStage& stage) const;
  // Returns a stage of `blocks` transformer blocks on a choice.
  DraftStage Stage(int choice, int blocks) const;
  int64_t micro_batches() const { return micro_batches_; }  // of one of the usual replicas
  int blocks() const { return blocks_; }
  // Returns how many devices of its pool a choice takes.
  int devices(int choice) const;

  // Returns the time of the device alone for forward and backward of one micro-batch through
  // `count` transformer blocks from `first` on, including the embedding before block 0 and the head
  // after the last block. With r times the usual number of replicas it is 1/r of that, because a
  // replica then has 1/r of the micro-batches.
  Duration Time(int choice, int first, int count) const;
  // Returns what a device holds for these layers as a share of its memory: states, saved
  // activations of `in_flight` micro-batches (counted for the usual number of replicas), and the
  // CUDA context.
  double MemoryShare(int choice, int first, int count, double in_flight) const;
  // Return for each block, and for the end of the last one, where the longest run begins that ends
  // before it and takes at most `limit`, or of which a device holds at most kUsableMemory. That is
  // one block later if not even a run without blocks does.
  std::vector<int> FirstInTime(int choice, Duration limit) const;
  std::vector<int> FirstInMemory(int choice, double in_flight) const;

 private:
  struct Sums {  // by number of layers
    std::vector<Duration> time;
    std::vector<int64_t> states, saved;  // bytes
    Bytes memory;
  };
  // Adds the choices with this tensor degree and recomputation in a pool, one for each number of
  // replicas.
  void AddChoices(int pool, int tensor, Recompute recompute, StageMemo& memo);
  // Returns MemoryShare() of layers [begin, end).
  double ShareOf(int choice, int begin, int end, double in_flight) const;
  // Returns for each end where the longest run of blocks begins for whose layers [begin, end)
  // fits(begin, end) holds.
  template <typename Fits>
  std::vector<int> FirstThat(Fits fits) const;
  // `probe` is a plan of one stage that has been given the choice.
  Sums SumUp(const StageChoice& choice, const Plan& probe, StageMemo& memo) const;

  const SearchProblem& problem_;
  const PlanDraft shape_;
  const int replicas_;
  const int blocks_;
  const int64_t micro_batches_;
  const std::vector<Pool> pools_;
  std::vector<StageChoice> choices_;
  std::vector<Sums> sums_;  // by choice
};

// Returns how many micro-batches stage `stage` of `stages` has in flight at most, by the warm-up of
// the usual pipeline schedules. If a stage has several chunks, a micro-batch in one of them counts
// as a part.
double InFlight(const PlanDraft& shape, int stages, int stage, int64_t micro_batches);

}  // namespace stagecraft
