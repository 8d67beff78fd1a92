// StageTable: what any run of blocks takes and holds on any devices that a stage could
// have, for drafts that share everything but their stages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"

namespace stagecraft {

// What of a device states and saved activations may take where nothing is simulated: the
// rest is for temporaries, messages and what the allocator leaves between tensors.
inline constexpr double kUsableMemory = 0.92;

// What a stage can be given.
struct StageChoice {
  int pool = 0;
  int tensor = 1;
  Recompute recompute = Recompute::kNone;
  friend auto operator<=>(const StageChoice&, const StageChoice&) = default;
};

class StageTable {
 public:
  // Of `shape` everything but the stages. The problem outlives it. Every choice that the
  // cluster has room for, the problem allows and the network divides by.
  StageTable(const SearchProblem& problem, const PlanDraft& shape);

  const PlanDraft& shape() const { return shape_; }
  const std::vector<StageChoice>& choices() const { return choices_; }
  int64_t micro_batches() const { return micro_batches_; }
  int blocks() const { return blocks_; }
  // Devices of the choice's pool that a stage takes.
  int devices(int choice) const;

  // Forward and backward of one micro-batch through `count` blocks from `first` on, with
  // the embedding before block 0 and the head after the last; of the device alone.
  Duration Time(int choice, int first, int count) const;
  // What a device holds of them by states, saved activations of `in_flight` micro-batches
  // and context; as a share of its memory.
  double MemoryShare(int choice, int first, int count, double in_flight) const;

 private:
  struct Sums {  // by number of layers
    std::vector<Duration> time;
    std::vector<int64_t> states, saved;  // bytes
    Bytes memory;
  };
  std::optional<Sums> Measure(const StageChoice& choice) const;

  const SearchProblem& problem_;
  const PlanDraft shape_;
  const int blocks_;
  const int64_t micro_batches_;
  std::vector<StageChoice> choices_;
  std::vector<Sums> sums_;  // by choice
};

// Micro-batches that stage `stage` of so many holds at most, by the usual orders' warm-up;
// those with chunks count a part for each.
double InFlight(const PlanDraft& shape, int stages, int stage, int64_t micro_batches);

}  // namespace stagecraft
