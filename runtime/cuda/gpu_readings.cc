#include "runtime/cuda/gpu_readings.h"

#include <algorithm>
#include <optional>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

// Returns the values of a sensor in ascending order, without the zeros of missing ones.
std::vector<double> Known(const std::vector<DeviceState>& readings, double DeviceState::*sensor) {
  std::vector<double> known;
  for (const DeviceState& reading : readings) {
    if (reading.*sensor > 0) known.push_back(reading.*sensor);
  }
  std::sort(known.begin(), known.end());
  return known;
}

}  // namespace

GpuReadings Summarize(const std::vector<DeviceState>& readings) {
  const std::vector<double> clocks = Known(readings, &DeviceState::clock_hz);
  const std::vector<double> watts = Known(readings, &DeviceState::watts);
  const std::vector<double> celsius = Known(readings, &DeviceState::celsius);
  int know = 0, throttled = 0;
  for (const DeviceState& reading : readings) {
    if (!reading.is_throttled) continue;
    ++know;
    if (*reading.is_throttled) ++throttled;
  }
  std::optional<double> share;
  if (know > 0) share = static_cast<double>(throttled) / know;
  return {.clock_hz = clocks.empty() ? 0 : Median(clocks),
          .least_clock_hz = clocks.empty() ? 0 : clocks.front(),
          .watts = watts.empty() ? 0 : Median(watts),
          .most_watts = watts.empty() ? 0 : watts.back(),
          .most_celsius = celsius.empty() ? 0 : celsius.back(),
          .throttled = share};
}

}  // namespace stagecraft
