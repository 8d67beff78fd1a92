// The critical path of a step: the chain of tasks that follow one another from its
// begin to its end without a pause, none of which could have started earlier.
// Shorten a task that is not on it, and the step takes as long as before.
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

// In order of time: the first begins at zero, each ends where the next begins, the
// last ends with the step. At most three of a task. `waits` as of the timeline.
std::vector<PathSegment> FindCriticalPath(const Timeline& timeline, const TaskWaits& waits);

// What the time of a path is spent on.
enum class PathPart : uint8_t {
  kForward,   // computation of forward passes,
  kBackward,  // and of backward passes
  kTensor,    // exposed collectives inside of passes, by who takes part
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

// By part; they add up to what the segments do. `costs` as of the simulation;
// nullptr: passes only compute.
using PathTime = std::array<Duration, kPathPartCount>;
PathTime TimeByPart(const Schedule& schedule, std::span<const PathSegment> path,
                    const BoundCosts* costs);

}  // namespace stagecraft
