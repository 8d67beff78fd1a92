// MeasuredTimeline: the timeline of one training step, made from what profilers recorded.
#pragma once

#include <string>
#include <vector>

#include "sim/schedule/timeline_record.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

struct MeasuredTimeline {
  TimelineRecord record;  // with `kernels` and `measurement`
  // The recording, and its kernel, from which a task of the record was made; listed by task.
  struct Source {
    int recording = -1, kernel = -1;
  };
  std::vector<Source> sources;
  int64_t all_kernels = 0;       // that were recorded
  int64_t outside_of_steps = 0;  // of these, that are in no marked step
  int64_t in_other_steps = 0;    // of these, in steps for which the timeline does not stand
  std::vector<std::string> notes;
};

// Takes the step whose time is the median of all marked steps, or everything if none is marked.
// Every kernel of it becomes a task on the lane of its stream; the first one starts at zero. A step
// lasts until the next one starts, the last one until its last kernel ends. Kernels must have been
// placed (kernel_places.h). Recordings of one job must be of different ranks. Traces that `export`
// wrote give the tasks of which they were made, at the same times. Throws InputError.
MeasuredTimeline MakeMeasuredTimeline(const std::vector<Recording>& recordings);

}  // namespace stagecraft
