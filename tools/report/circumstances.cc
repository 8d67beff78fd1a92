#include "tools/report/circumstances.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "costmodel/units.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMegahertzPerHertz = 1e-6, kPercent = 100;
constexpr const char* kNotRead = "not read";

std::string Reading(double value, const char* unit) {
  return value > 0 ? fmt::format("{:.0f} {}", value, unit) : kNotRead;
}

Json ReadingOrNull(double value) { return value > 0 ? Json(value) : Json(); }

Json GpuToJson(const GpuReadings& gpu) {
  return {{"clock_mhz", ReadingOrNull(gpu.clock_hz * kMegahertzPerHertz)},
          {"least_clock_mhz", ReadingOrNull(gpu.least_clock_hz * kMegahertzPerHertz)},
          {"watts", ReadingOrNull(gpu.watts)},
          {"most_watts", ReadingOrNull(gpu.most_watts)},
          {"most_celsius", ReadingOrNull(gpu.most_celsius)},
          {"throttled", gpu.throttled ? Json(*gpu.throttled) : Json()}};
}

}  // namespace

bool HasMedian(const Measurement& measurement) {
  return LateSteps(measurement) < std::max<int64_t>(1, std::ssize(measurement.steps));
}

std::string QueuedInWords(const Measurement& measurement) {
  const std::vector<Duration>& late = measurement.queued_late;
  if (late.empty()) return "";
  const size_t steps = late.size();
  const int count = LateSteps(measurement);
  const double most_ms = std::max_element(late.begin(), late.end())->ms();
  if (count == 0) {
    return steps == 1 ? "the host queued the step in time"
                      : fmt::format("the host queued all {} steps in time", steps);
  }
  if (!HasMedian(measurement)) {
    return fmt::format(
        "the host queued {} late: devices waited for it for up to {:.3f} ms, and there is no "
        "median of steps queued in time",
        steps == 1 ? "the step" : fmt::format("all {} steps", steps), most_ms);
  }
  return fmt::format(
      "the host queued {} of {} steps late: devices waited for it for up to {:.3f} ms; {} left out "
      "of the median",
      count, steps, most_ms, count == 1 ? "it is" : "they are");
}

void PrintGpus(std::span<const GpuReadings> gpus, const std::string& indent, std::ostream& out) {
  TextTable table({indent + "ranks", "clock", "min clock", "power", "max power", "max temperature",
                   "throttled"},
                  1);
  for (size_t first = 0, next = 0; first < gpus.size(); first = next) {
    while (next < gpus.size() && gpus[next] == gpus[first]) ++next;
    const GpuReadings& gpu = gpus[first];
    const std::string ranks =
        next - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, next - 1);
    table.Add({indent + ranks, Reading(gpu.clock_hz * kMegahertzPerHertz, "MHz"),
               Reading(gpu.least_clock_hz * kMegahertzPerHertz, "MHz"), Reading(gpu.watts, "W"),
               Reading(gpu.most_watts, "W"), Reading(gpu.most_celsius, "C"),
               gpu.throttled ? fmt::format("{:.0f} %", kPercent * *gpu.throttled) : kNotRead});
  }
  table.Print(out);
}

void AddCircumstances(const Measurement& measurement, Json* json) {
  if (!measurement.queued_late.empty()) {
    (*json)["late_steps"] = LateSteps(measurement);
    for (const Duration late : measurement.queued_late) {
      (*json)["queued_late_ms"].push_back(late.ms());
    }
    (*json)["step_time_is_median"] = HasMedian(measurement);
  }
  for (const GpuReadings& gpu : measurement.gpus) {
    (*json)["boards"].push_back(GpuToJson(gpu));
  }
}

}  // namespace stagecraft
