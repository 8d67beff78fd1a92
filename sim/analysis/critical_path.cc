#include "sim/analysis/critical_path.h"

#include <algorithm>

#include "sim/analysis/exposed_ops.h"

namespace stagecraft {
namespace {

PathPart PartOf(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return PathPart::kForward;
    case Phase::kBackward:
    case Phase::kBackwardInput:
    case Phase::kBackwardWeight:
      return PathPart::kBackward;
    case Phase::kSendForward:
    case Phase::kSendBackward:
    case Phase::kVocabularyExchange:
      return PathPart::kTransfer;
    case Phase::kContext:
      return PathPart::kContext;
    case Phase::kExpertExchange:
      return PathPart::kExpert;
    case Phase::kGradReduce:
      return PathPart::kGradReduce;
    case Phase::kGradNorm:
      return PathPart::kGradNorm;
    case Phase::kOptimizer:
      return PathPart::kOptimizer;
    case Phase::kParamGather:
      return PathPart::kParamGather;
    case Phase::kOffload:
    case Phase::kFetch:
      return PathPart::kHostCopy;
  }
  return PathPart::kForward;  // not reached
}

// Moves up to `time` of what is left to a part.
void Move(Duration time, Duration& left, Duration& part) {
  const Duration moved = std::min(time, left);
  part += moved;
  left -= moved;
}

}  // namespace

const char* Name(PathPart part) {
  constexpr const char* kNames[] = {
      "forward",   "backward",  "tp",           "cp",        "ep",     "pp",          "grad reduce",
      "grad norm", "optimizer", "param gather", "host copy", "launch", "link sharing"};
  return kNames[static_cast<int>(part)];
}

std::vector<PathSegment> FindCriticalPath(const Timeline& timeline, const TaskWaits& waits) {
  std::vector<PathSegment> path;
  if (waits.last() < 0) return path;
  waits.WalkBack(
      waits.last(), Duration(), timeline.makespan(),
      [&](TaskId task, Duration from, Duration to, Activity activity) {
        path.push_back({task, from, to, activity, waits.reason(task), waits.after(task)});
      });
  std::reverse(path.begin(), path.end());
  return path;
}

PathTime TimeByPart(const Schedule& schedule, std::span<const PathSegment> path,
                    const BoundCosts* costs) {
  PathTime time{};
  const auto of = [&](PathPart part) -> Duration& { return time[static_cast<int>(part)]; };
  for (const PathSegment& segment : path) {
    Duration left = segment.to - segment.from;
    const Tag& tag = schedule.tag(segment.task);
    const OpSequenceId op_sequence = schedule.op_sequence(segment.task);
    if (segment.activity == Activity::kLaunch) {
      of(PathPart::kLaunch) += left;
      continue;
    }
    if (segment.activity == Activity::kSharing) {
      of(PathPart::kSharing) += left;
      continue;
    }
    if (IsPass(tag.phase) && costs != nullptr && op_sequence >= 0) {
      const CollectiveTime inside = ExposedCollectives(
          schedule, op_sequence, costs->estimates[costs->device_of_rank[tag.rank]]);
      Move(inside.tensor, left, of(PathPart::kTensor));
      Move(inside.context, left, of(PathPart::kContext));
      Move(inside.expert, left, of(PathPart::kExpert));
    }
    of(PartOf(tag.phase)) += left;
  }
  return time;
}

}  // namespace stagecraft
