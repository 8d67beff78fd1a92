// StepBound: a lower bound of a plan's step time, without lowering or replaying the plan.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "search/layer_times.h"
#include "search/problem.h"
#include "search/shard_places.h"
#include "search/space.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// For plans of equal stages on devices of one kind. Remembers what layers take, so a bound costs
// about a microsecond and a few dozen nanoseconds for each stage.
//
// The bound of a step is the largest over the stages of
//   forwards of one micro-batch through all parts before its first one
//   + m x (forward + backward) of all its chunks
//   + backwards through all parts before the first one, if schedules do not split them.
// Each of these is in every pipeline schedule: passes of one stage run one after another, its first
// pass waits for a forward of what comes before, and backwards of what comes before wait for its
// last pass. Launches, transfers, reductions and the update only add to it. For schedules whose
// passes run beside each other (DualPipe) only computation is counted: they may hide everything
// else.
//
// What a layer takes depends on where its groups lie: on nodes whose pairs of devices are unlike,
// and if groups straddle nodes. It is the least time of any group that a plan of these degrees may
// have (ShardPlaces).
//
// The bound of a family is what its stages take on average for the micro-batches of the replica
// with most of them, of the size that is best. If the devices that its ranks take are not known,
// only computation is counted.
// its ranks take, only what computes is counted.
class StepBound {
 public:
  // Problem and memo must outlive it. Rank r is on devices[r].
  StepBound(const SearchProblem& problem, std::vector<int> devices, LayerTimesMemo& memo);

  // Never more than the step time that SimulateStep() gives for the plan.
  Duration StepTime(const PlanDegrees& degrees);
  // Never more than StepTime() of any plan of the family on these devices or, if the family is on
  // no list of devices, on any devices of their kind.
  Duration StepTime(const DegreeFamily& family);
  // Never more than StepTime() of any plan with such a division of its stages and schedules of such
  // a class, on this number of devices of their kind or fewer; Duration::Max() if there is none.
  Duration StepTime(const DegreeFamily& division, ScheduleClass schedules, int devices);
  // Never more than the fullest device holds. Counts the CUDA context, states, and what forwards
  // keep for the micro-batches that 1F1B, interleaved 1F1B or GPipe have in flight at once; for
  // other schedules what one forward keeps.
  Bytes Memory(const PlanDegrees& degrees);

 private:
  using Key = std::array<int64_t, 6>;
  // What degrees say of one stage, and one thing more.
  static Key KeyOf(const PlanDegrees& degrees, int64_t other);
  const std::vector<LayerTimes>& LayersOf(const PlanDegrees& degrees);
  // The times of a micro-batch of a given number of samples through all layers.
  struct PassTimes {
    int64_t micro_batch = 0;
    Duration time;
  };
  const std::vector<PassTimes>& PassesOf(const DegreeFamily& family, ScheduleClass schedules);
  // What the forward of one micro-batch keeps for its backward in each kind of layer. Zeros if it
  // keeps nothing, or if the device may hold less: copies on the host, layers that recompute.
  const std::vector<Bytes>& SavedOf(const PlanDegrees& degrees);
  // A plan of one stage that is divided like this, without layers, on the first devices.
  Plan OneStage(const PlanDegrees& degrees) const;
  Duration LeastPass(PlanDegrees degrees, ScheduleClass schedules, bool computes_alone);

  const SearchProblem& problem_;
  LayerTimesMemo& memo_;
  ShardPlaces places_;
  std::map<Key, std::vector<LayerTimes>> layer_times_;  // then by kind
  std::map<Key, std::vector<Bytes>> saved_;             // then by kind
  // The key is: tensor, context, whether tokens are split, the class of schedules, and whether
  // ranks take these devices.
  std::map<std::array<int, 5>, std::vector<PassTimes>> pass_times_;
};

}  // namespace stagecraft
