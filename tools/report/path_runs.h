// PathRuns: a critical path in few lines. Segments that belong together become one
// run: the passes of one stage one after another; one micro-batch on its way from
// stage to stage; what else is of one phase and stage. What a pass sends goes with it.
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
  StartReason reason = StartReason::kStepBegins;  // of its first task
  int segments = 0;
  // -1 where a field does not apply: of its first and last pass,
  int16_t first_stage = -1, last_stage = -1;
  // and the lowest and highest.
  int16_t first_chunk = -1, last_chunk = -1;
  int32_t first_micro_batch = -1, last_micro_batch = -1;
  Phase phase = Phase::kForward;                   // of its first task
  bool has_forward = false, has_backward = false;  // passes
  // Whether the tasks could as yet be of one stage, or one micro-batch on its way.
  bool stays = false, travels = false;
  Duration transfers, launches, sharing;  // that are in it

  // "forward and backward of stage 3, micro-batches 0-63".
  std::string Description() const;
};

std::vector<PathRun> FindRuns(const Schedule& schedule, std::span<const PathSegment> path);

}  // namespace stagecraft
