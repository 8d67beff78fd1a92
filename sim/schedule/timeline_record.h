// TimelineRecord: a timeline with everything that a file says about it: the schedule to which it
// belongs, what ranks held, and where its times come from.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/kernel_profile.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// How long ops take by themselves, as predicted.
struct OpTimes {
  std::vector<std::vector<Duration>> by_device;  // by distinct device, then op
  std::vector<int> device_of_rank;               // into by_device
};

// What sensors said about a rank's GPU while steps ran; zero: not known.
struct GpuReadings {
  double clock_hz = 0, least_clock_hz = 0;  // the median, the least
  double watts = 0, most_watts = 0;         // the median, the most
  double most_celsius = 0;
  // The share of the readings in which heat or a protection of the GPU held its clock down; no
  // value if no sensor says.
  std::optional<double> throttled;
  friend bool operator==(const GpuReadings&, const GpuReadings&) = default;
};

// How a timeline was measured. If several steps were measured, the timeline is that of the step
// which stands for all that count, or has the median of each start and each end.
struct Measurement {
  std::string executor;              // "host", "cuda", or the profiler: "kineto", "nsys", "chakra"
  std::string software;              // the software on which times depend, with versions
  std::vector<std::string> devices;  // by rank; empty: not known
  std::vector<Duration> steps;       // the duration of every measured step, in order
  // By task: the standard deviation of its duration over the steps that count; empty: not known.
  std::vector<Duration> task_sigma;
  std::vector<GpuReadings> gpus;  // by rank; empty: not known
  // By step: for how long a device was ready for work that the host had not queued yet; zero if
  // that is less than a thousandth of the step; empty: not known.
  std::vector<Duration> queued_late;
};

// The number of steps that were not queued in time.
int LateSteps(const Measurement& measurement);

// The indices, in order, of the steps that count: those that were queued in time, or all if none
// was. `queued_late` is that of Measurement.
std::vector<int> CountingSteps(size_t steps, std::span<const Duration> queued_late);

// The durations of the steps that count, for which the timeline stands.
std::vector<Duration> CountedSteps(const Measurement& measurement);

struct TimelineRecord {
  Schedule schedule;
  Timeline timeline;
  // By rank, the most that a device of it holds at once apart from fragmentation; 0: not known.
  // Empty: not known of any rank.
  std::vector<Bytes> peak_memory;
  OpTimes op_times;                        // empty: not known
  std::optional<Measurement> measurement;  // none: simulated, or not stated
  // If simulated: for how long a device waits, in the step, for its host to launch kernels.
  Duration host_wait;
  // If a profiler recorded it: what each task is. Its schedule then has no dependencies.
  std::optional<KernelProfile> kernels;
};

}  // namespace stagecraft
