// TimelineRecord: a timeline with what a file says of it: the schedule it belongs to,
// what ranks held, and where its times come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule.h"
#include "sim/timeline.h"

namespace stagecraft {

// What ops take by themselves, as predicted.
struct OpTimes {
  std::vector<std::vector<Duration>> by_device;  // by kind of device, then op
  std::vector<int> device_of_rank;               // into by_device
};

// Of several steps, the timeline is that of one that stands for all, or the medians
// of each start and end.
struct Measurement {
  std::string executor;              // "host", "cuda"
  std::string software;              // what times depend on, with versions
  std::vector<std::string> devices;  // by rank; empty: not known
  std::vector<Duration> steps;       // what every measured step took, in order
  // By task, of its duration over the steps; empty: not known.
  std::vector<Duration> task_sigma;
};

struct TimelineRecord {
  Schedule schedule;
  Timeline timeline;
  // By rank, the most that a device of it holds at once beside fragmentation; 0: not
  // known. Empty: of no rank.
  std::vector<Bytes> peak_memory;
  OpTimes op_times;                        // empty: not known
  std::optional<Measurement> measurement;  // none: simulated, or not stated
};

}  // namespace stagecraft
