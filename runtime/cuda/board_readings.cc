#include "runtime/cuda/board_readings.h"

#include <algorithm>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

// In ascending order, without those that no sensor gave.
std::vector<double> Known(const std::vector<DeviceState>& readings, double DeviceState::*sensor) {
  std::vector<double> known;
  for (const DeviceState& reading : readings) {
    if (reading.*sensor > 0) known.push_back(reading.*sensor);
  }
  std::sort(known.begin(), known.end());
  return known;
}

}  // namespace

BoardReadings Summarize(const std::vector<DeviceState>& readings) {
  const std::vector<double> clocks = Known(readings, &DeviceState::clock_hz);
  const std::vector<double> watts = Known(readings, &DeviceState::watts);
  const std::vector<double> celsius = Known(readings, &DeviceState::celsius);
  const auto throttled = std::count_if(readings.begin(), readings.end(),
                                       [](const DeviceState& state) { return state.is_throttled; });
  return {.clock_hz = clocks.empty() ? 0 : Median(clocks),
          .least_clock_hz = clocks.empty() ? 0 : clocks.front(),
          .watts = watts.empty() ? 0 : Median(watts),
          .most_watts = watts.empty() ? 0 : watts.back(),
          .most_celsius = celsius.empty() ? 0 : celsius.back(),
          .throttled = readings.empty() ? 0
                                        : static_cast<double>(throttled) /
                                              static_cast<double>(readings.size())};
}

}  // namespace stagecraft
