// PathRun: a stretch of a critical path that a report shows in one line. Segments in a row that
// belong together become one run: the passes of one stage; the passes of one micro-batch on its way
// from stage to stage; other tasks of one phase and stage. A transfer belongs to the run of the
// pass that sends it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/critical_path.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

struct PathRun {
  Duration from, to;
  StartReason reason = StartReason::kStepBegins;  // why its first task did not start earlier
  int segments = 0;
  // The stages of its first and of its last pass; -1: does not apply.
  int16_t first_stage = -1, last_stage = -1;
  // The lowest and the highest chunk and micro-batch of its passes; -1: does not apply.
  int16_t first_chunk = -1, last_chunk = -1;
  int32_t first_micro_batch = -1, last_micro_batch = -1;
  Phase phase = Phase::kForward;                   // of its first task
  bool has_forward = false, has_backward = false;  // whether it has such passes
  // Whether all its passes are of one stage; whether they are one micro-batch on its way.
  bool stays = false, travels = false;
  Duration transfers, launches, sharing;  // how much of its time these take

  // Returns "forward and backward of stage 3, micro-batches 0-63".
  std::string Description() const;
};

std::vector<PathRun> FindRuns(const Schedule& schedule, std::span<const PathSegment> path);

}  // namespace stagecraft
