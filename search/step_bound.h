// StepBound: what a step takes at least, without lowering or replaying it.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "search/layer_times.h"
#include "search/problem.h"
#include "sim/shard.h"

namespace stagecraft {

// For plans of equal stages on one kind of node. Remembers what layers take, so a bound
// costs about a microsecond and a few dozen nanoseconds a stage.
//
// The bound of a step is the largest over the stages of
//   forwards of one micro-batch through all parts before its first one
//   + m x (forward + backward) of all its chunks
//   + backwards through all parts before the first one, where orders do not split them.
// Each is in every schedule: passes of one stage run one after another, its first waits
// for a forward of what comes before, and backwards of what comes before wait for its
// last. Launches, transfers, reductions and the update only add to it.
class StepBound {
 public:
  // The problem outlives it.
  explicit StepBound(const SearchProblem& problem);

  // Never more than SimulateStep() says of the plan's step.
  Duration StepTime(const PlanDegrees& degrees);
  // Never more than the fullest device holds: states and context.
  Bytes Memory(const PlanDegrees& degrees);

 private:
  using Key = std::array<int64_t, 6>;
  const std::vector<LayerTimes>& LayersOf(const PlanDegrees& degrees);
  ShardSpec ShardOf(const PlanDegrees& degrees) const;

  const SearchProblem& problem_;
  std::map<Key, std::vector<LayerTimes>> layer_times_;  // then by kind
};

}  // namespace stagecraft
