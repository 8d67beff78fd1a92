// TimelineRecord: a timeline with what a file says of it: the schedule it belongs to,
// what ranks held, and where its times come from.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// What ops take by themselves, as predicted.
struct OpTimes {
  std::vector<std::vector<Duration>> by_device;  // by kind of device, then op
  std::vector<int> device_of_rank;               // into by_device
};

// What sensors said of a rank's board while steps ran; zero: not known.
struct BoardReadings {
  double clock_hz = 0, least_clock_hz = 0;  // the median first
  double watts = 0, most_watts = 0;         // the median first
  double most_celsius = 0;
  // Share of the readings in which heat or a protection of the board held its clock down;
  // nothing: no sensor says.
  std::optional<double> throttled;
  friend bool operator==(const BoardReadings&, const BoardReadings&) = default;
};

// How a timeline was measured. Where several steps were, the timeline is that of the step which
// stands for all that count, or has the median of each start and each end.
struct Measurement {
  std::string executor;              // "host", "cuda"
  std::string software;              // what times depend on, with versions
  std::vector<std::string> devices;  // by rank; empty: not known
  std::vector<Duration> steps;       // what every measured step took, in order
  // By task: the standard deviation of its duration over the steps that count; empty: not known.
  std::vector<Duration> task_sigma;
  std::vector<BoardReadings> boards;  // by rank; empty: not known
  // By step: how long the host was still queueing it after devices had begun, so that they may
  // have waited for the host; empty: not known.
  std::vector<Duration> queued_late;
};

// The number of steps that were not queued in time.
int LateSteps(const Measurement& measurement);

// The indices, in order, of the steps that count among so many: those that were queued in time, or
// all where none was. `queued_late` is as Measurement has it.
std::vector<int> CountingSteps(size_t steps, std::span<const Duration> queued_late);

// What the steps took that count: those that the timeline stands for.
std::vector<Duration> CountedSteps(const Measurement& measurement);

struct TimelineRecord {
  Schedule schedule;
  Timeline timeline;
  // By rank, the most that a device of it holds at once beside fragmentation; 0: not
  // known. Empty: of no rank.
  std::vector<Bytes> peak_memory;
  OpTimes op_times;                        // empty: not known
  std::optional<Measurement> measurement;  // none: simulated, or not stated
  // Simulated: for so long a device waits, in the step, for its host to launch kernels.
  Duration host_wait;
};

}  // namespace stagecraft
