#include "tools/report/path_runs.h"

#include <fmt/core.h>

#include <algorithm>

namespace stagecraft {
namespace {

bool IsSend(Phase phase) { return phase == Phase::kSendForward || phase == Phase::kSendBackward; }
bool RunsForward(Phase phase) { return phase == Phase::kForward || phase == Phase::kSendForward; }

PathRun Begin(const PathSegment& segment, const Tag& tag) {
  PathRun run;
  run.from = segment.from;
  run.reason = segment.reason;
  run.phase = tag.phase;
  run.first_stage = run.last_stage = tag.stage;
  run.first_chunk = run.last_chunk = tag.chunk;
  run.first_micro_batch = run.last_micro_batch = tag.micro_batch;
  run.stays = run.travels = IsPass(tag.phase) || IsSend(tag.phase);
  return run;
}

// Returns whether the run can go on with this task; if so, updates what kind of run it can still
// be.
bool Joins(const Tag& tag, PathRun& run) {
  if (!IsPass(tag.phase) && !IsSend(tag.phase)) {
    return tag.phase == run.phase && tag.stage == run.first_stage;
  }
  const bool stays = run.stays && tag.stage == run.first_stage;
  const bool travels = run.travels && tag.micro_batch == run.first_micro_batch &&
                       RunsForward(tag.phase) == RunsForward(run.phase);
  if (!stays && !travels) return false;
  run.stays = stays;
  run.travels = travels;
  return true;
}

void Add(const PathSegment& segment, const Tag& tag, PathRun& run) {
  const Duration time = segment.to - segment.from;
  run.to = segment.to;
  ++run.segments;
  if (!IsSend(tag.phase)) run.last_stage = tag.stage;
  run.first_chunk = std::min(run.first_chunk, tag.chunk);
  run.last_chunk = std::max(run.last_chunk, tag.chunk);
  run.first_micro_batch = std::min(run.first_micro_batch, tag.micro_batch);
  run.last_micro_batch = std::max(run.last_micro_batch, tag.micro_batch);
  if (IsPass(tag.phase)) (RunsForward(tag.phase) ? run.has_forward : run.has_backward) = true;
  if (segment.activity == Activity::kLaunch) {
    run.launches += time;
  } else if (segment.activity == Activity::kSharing) {
    run.sharing += time;
  } else if (IsSend(tag.phase)) {
    run.transfers += time;
  }
}

const char* WordsFor(Phase phase) {
  switch (phase) {
    case Phase::kGradReduce:
      return "gradient reduction";
    case Phase::kGradNorm:
      return "gradient norm";
    case Phase::kParamGather:
      return "parameter gather";
    case Phase::kOffload:
      return "copies to the host";
    case Phase::kFetch:
      return "copies from the host";
    default:
      return Name(phase);
  }
}

}  // namespace

std::string PathRun::Description() const {
  if (!IsPass(phase) && !IsSend(phase)) {
    return first_stage < 0 ? WordsFor(phase)
                           : fmt::format("{} of stage {}", WordsFor(phase), first_stage);
  }
  const char* passes = has_forward && has_backward ? "forward and backward"
                       : RunsForward(phase)        ? "forward"
                                                   : "backward";
  if (!has_forward && !has_backward) {
    return fmt::format("transfer of micro-batch {} from stage {}", first_micro_batch, first_stage);
  }
  if (!stays) {
    const std::string chunks =
        first_chunk == last_chunk ? "" : fmt::format(", chunks {}-{}", first_chunk, last_chunk);
    return fmt::format("{} of micro-batch {}{}, stages {} to {}", passes, first_micro_batch, chunks,
                       first_stage, last_stage);
  }
  const std::string micro_batches =
      first_micro_batch == last_micro_batch
          ? fmt::format("micro-batch {}", first_micro_batch)
          : fmt::format("micro-batches {}-{}", first_micro_batch, last_micro_batch);
  return fmt::format("{} of stage {}, {}", passes, first_stage, micro_batches);
}

std::vector<PathRun> FindRuns(const Schedule& schedule, std::span<const PathSegment> path) {
  std::vector<PathRun> runs;
  for (const PathSegment& segment : path) {
    const Tag& tag = schedule.tag(segment.task);
    if (runs.empty() || !Joins(tag, runs.back())) runs.push_back(Begin(segment, tag));
    Add(segment, tag, runs.back());
  }
  return runs;
}

}  // namespace stagecraft
