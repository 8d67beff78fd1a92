// The critical path of a training step: the chain of tasks that follow one another from its
// beginning to its end without a pause, none of which could have started earlier. Shortening a task
// that is not on it leaves the step as long as before.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/task_waits.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

struct PathSegment {
  TaskId task = -1;
  Duration from, to;  // to > from
  Activity activity = Activity::kWork;
  StartReason reason = StartReason::kStepBegins;  // why the task did not start earlier:
  TaskId after = -1;                              // it waited for this one
};

// Returns the path in order of time: the first segment begins at zero, each ends where the next
// begins, and the last ends with the step. A task has at most three segments. `waits` are those of
// the timeline.
std::vector<PathSegment> FindCriticalPath(const Timeline& timeline, const TaskWaits& waits);

// What the time of a path is spent on.
enum class PathPart : uint8_t {
  kForward,   // computation in forward passes,
  kBackward,  // and in backward passes
  kTensor,    // exposed collectives inside passes, by the group that takes part
  kContext,
  kExpert,
  kTransfer,  // between stages
  kGradReduce,
  kGradNorm,
  kOptimizer,
  kParamGather,
  kHostCopy,  // of activations
  kLaunch,
  kSharing,
};
inline constexpr int kPathPartCount = 13;
const char* Name(PathPart part);

// Time by part; the parts add up to the times of the segments. `costs` are those of the simulation;
// with nullptr, passes do nothing but compute.
using PathTime = std::array<Duration, kPathPartCount>;
PathTime TimeByPart(const Schedule& schedule, std::span<const PathSegment> path,
                    const BoundCosts* costs);

}  // namespace stagecraft
