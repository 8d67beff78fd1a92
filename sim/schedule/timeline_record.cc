#include "sim/schedule/timeline_record.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stagecraft {

int LateSteps(const Measurement& measurement) {
  return static_cast<int>(std::count_if(measurement.queued_late.begin(),
                                        measurement.queued_late.end(),
                                        [](Duration late) { return late > Duration(); }));
}

std::vector<int> CountingSteps(size_t steps, std::span<const Duration> queued_late) {
  std::vector<int> all(steps);
  std::iota(all.begin(), all.end(), 0);
  if (queued_late.empty()) return all;
  std::vector<int> in_time;
  std::copy_if(all.begin(), all.end(), std::back_inserter(in_time),
               [&](int step) { return queued_late[static_cast<size_t>(step)] == Duration(); });
  return in_time.empty() ? all : in_time;
}

std::vector<Duration> CountedSteps(const Measurement& measurement) {
  std::vector<Duration> counted;
  for (const int step : CountingSteps(measurement.steps.size(), measurement.queued_late)) {
    counted.push_back(measurement.steps[static_cast<size_t>(step)]);
  }
  return counted;
}

}  // namespace stagecraft
