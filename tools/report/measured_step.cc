#include "tools/report/measured_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr double kPercent = 100;
constexpr double kMostSeconds = 7 * 86400.0;
// A part that would have to change by more than this factor explains nothing.
constexpr double kMostFactor = 10;

}  // namespace

Duration ParseMeasured(const std::string& flag, const std::string& text) {
  std::string_view unit = text;
  const std::optional<double> value = TakeNumber<double>(unit);
  const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 0;
  const double seconds = value.value_or(0) * scale;
  if (!(seconds >= 1e-9 && seconds <= kMostSeconds)) {
    throw InputError(fmt::format(
        "{}: got \"{}\", want a time of a step above 0 and up to a week, such as 1.23s or 850ms",
        flag, text));
  }
  return Duration::Seconds(seconds);
}

MeasuredStep CompareMeasured(Duration measured, const Evaluation& evaluation) {
  MeasuredStep step = {
      measured, evaluation.step_time, evaluation.step_time_low, evaluation.step_time_high, {}};
  const Breakdown& parts = evaluation.profile.breakdown;
  const double missing = (measured - evaluation.step_time).seconds();
  const std::pair<const char*, Duration> candidates[] = {
      {"computation, and the bubble that grows with it",
       parts.compute + parts.optimizer + parts.bubble},
      {"communication that nothing hides",
       parts.tensor + parts.pipeline + parts.data + parts.context + parts.expert},
      {"the host's launching of kernels", evaluation.profile.host_wait},
  };
  for (const auto& [what, part] : candidates) {
    if (part <= Duration()) continue;
    const double factor = 1 + missing / part.seconds();
    if (factor <= 1 / kMostFactor || factor >= kMostFactor) continue;
    step.explanations.push_back({what, part, factor});
  }
  std::stable_sort(step.explanations.begin(), step.explanations.end(),
                   [](const PartFactor& a, const PartFactor& b) {
                     return std::abs(std::log(a.factor)) < std::abs(std::log(b.factor));
                   });
  return step;
}

void PrintMeasured(const MeasuredStep& step, std::ostream& out) {
  const Duration difference =
      std::max(step.measured - step.predicted, step.predicted - step.measured);
  out << fmt::format(
      "measured  {:.1f} ms: the prediction of {:.1f} ms is {:.1f} % too {}, {} its 80 % "
      "interval\n",
      step.measured.ms(), step.predicted.ms(), kPercent * std::abs(step.error()),
      step.error() < 0 ? "low" : "high", step.is_within() ? "within" : "outside of");
  if (difference == Duration()) return;
  out << "          each of these alone would explain it:\n";
  for (const PartFactor& explanation : step.explanations) {
    out << fmt::format("            {} ({:.1f} ms) takes {:.2f} times as long\n", explanation.what,
                       explanation.part.ms(), explanation.factor);
  }
  if (step.measured > step.predicted) {
    out << fmt::format(
        "            {:.1f} ms a step of what is not simulated: loading data, logging, "
        "evaluation\n",
        difference.ms());
  } else if (step.explanations.empty()) {
    out << "            nothing: the plan or the sizes must be others than those that were "
           "measured\n";
  }
}

nlohmann::ordered_json ToJson(const MeasuredStep& step) {
  nlohmann::ordered_json explanations = nlohmann::ordered_json::array();
  for (const PartFactor& explanation : step.explanations) {
    explanations.push_back({{"part", explanation.what},
                            {"predicted_ms", explanation.part.ms()},
                            {"factor", explanation.factor}});
  }
  return {{"step_time_ms", step.measured.ms()},
          {"error_percent", kPercent * step.error()},
          {"within_interval", step.is_within()},
          {"explanations", std::move(explanations)}};
}

}  // namespace stagecraft
