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

// StepBound is for plans of equal stages on devices of one kind. It remembers what layers take, so
// a bound costs about a microsecond and a few dozen nanoseconds for each stage.
//
// The bound of a step is the largest over the stages of
//   forwards of one micro-batch through all parts before its first one
//   + m x (forward + backward) of all its chunks
//   + backwards through all parts before the first one, if schedules do not split them.
// Every pipeline schedule contains these: passes of one stage run one after another, its first pass
// waits for a forward of what comes before, and backwards of what comes before wait for its last
// pass. Launches, transfers, reductions and the update only add to them. For schedules whose passes
// run side by side (DualPipe) only computation is counted: they may hide everything else. For
// asynchronous pipelines, which neither fill nor drain between steps, only the passes are counted.
//
// What a layer takes depends on where its groups lie if a node's pairs of devices are unlike, or if
// groups straddle nodes. The bound counts the least time of any group that a plan of these degrees
// may have (ShardPlaces).
//
// The bound of a family is what its stages take on average for the micro-batches of the replica
// that has the most, at the best micro-batch size. If it is not known which devices its ranks take,
// only computation is counted.
class StepBound {
 public:
  // Problem and memo must outlive it. Rank r is on devices[r].
  StepBound(const SearchProblem& problem, std::vector<int> devices, LayerTimesMemo& memo);

  // Returns a time that is never more than the step time that SimulateStep() gives for the plan.
  Duration StepTime(const PlanDegrees& degrees);
  // Returns a time that is never more than StepTime() of any plan of the family on these devices
  // or, if the family is on no list of devices, on any devices of their kind.
  Duration StepTime(const DegreeFamily& family);
  // Returns a time that is never more than StepTime() of any plan whose stages are divided like
  // this, with schedules of this class, on at most this many devices of the same kind;
  // Duration::Max() if there is no such plan.
  Duration StepTime(const DegreeFamily& division, ScheduleClass schedules, int devices);
  // Returns a lower bound of what the fullest device holds. Counts the CUDA context, states, and
  // what forwards keep for the micro-batches that 1F1B, interleaved 1F1B or GPipe have in flight at
  // once; for other schedules, what one forward keeps.
  Bytes Memory(const PlanDegrees& degrees);

 private:
  using Key = std::array<int64_t, 6>;
  // Returns what the degrees say about one stage, and one more value.
  static Key KeyOf(const PlanDegrees& degrees, int64_t other);
  const std::vector<LayerTimes>& LayersOf(const PlanDegrees& degrees);
  // The times of a micro-batch of a given number of samples through all layers.
  struct PassTimes {
    int64_t micro_batch = 0;
    Duration time;
  };
  const std::vector<PassTimes>& PassesOf(const DegreeFamily& family, ScheduleClass schedules);
  // Returns what the forward of one micro-batch keeps for its backward, by kind of layer. Zeros if
  // it keeps nothing, or if a device may hold less: with copies on the host or layers that
  // recompute.
  const std::vector<Bytes>& SavedOf(const PlanDegrees& degrees);
  // Returns a plan of one stage that is divided like this, without layers, on the first devices.
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
