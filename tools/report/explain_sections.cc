#include "tools/report/explain_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/chart/chart_page.h"
#include "tools/chart/html_page.h"
#include "tools/report/answer_charts.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostWaits = 20, kMostRuns = 60;

// The keys of "device_time_ms", their names, and their colours, which are those of the parts of the
// step where they are the same.
struct DeviceTime {
  const char* key;
  const char* name;
  int colour;
};
constexpr DeviceTime kDeviceTimes[] = {
    {"compute", "compute", 0},
    {"tp", "tensor parallel", 1},
    {"cp", "context parallel", 8},
    {"ep", "expert parallel", 6},
    {"optimizer", "optimizer", 4},
    {"warm_up", "waits: warm-up", 9},
    {"imbalance", "waits: imbalance", 3},
    {"communication", "waits: communication", 2},
    {"drain", "waits: drain", 7},
    {"update", "waits: update", 5},
    {"host", "waits: host", 6},
};

std::string DeviceTimes(const Json& plan) {
  BarsChart chart{.title = "What devices do with their time",
                  .note = "Means over the devices of each stage.",
                  .x = {.label = "time (ms)", .min = 0},
                  .row_label = "",
                  .rows = {},
                  .series = {},
                  .bars = {}};
  std::vector<const char*> keys;
  const Json& stages = plan.at("stages");
  for (const DeviceTime& time : kDeviceTimes) {
    const bool occurs = std::any_of(stages.begin(), stages.end(), [&](const Json& stage) {
      return stage.at("device_time_ms").value(time.key, 0.0) > 0;
    });
    if (!occurs) continue;
    keys.push_back(time.key);
    chart.series.push_back({time.name, SeriesStyle::kBar, time.colour});
  }
  for (const Json& stage : stages) {
    const int row = static_cast<int>(chart.rows.size());
    chart.rows.push_back("stage " + NumberText(stage.at("stage")));
    std::vector<double> values;
    for (const char* key : keys) values.push_back(stage.at("device_time_ms").value(key, 0.0));
    AddStack(chart, row, values);
  }
  return chart.rows.empty() ? "" : ToHtml(chart);
}

// Returns the colour of a phase on the critical path, as in the chart of passes, or grey.
int ColourOfPhase(const std::string& phase) {
  constexpr std::pair<const char*, int> kPhases[] = {
      {"forward", 0},     {"backward", 2},  {"backward input", 2}, {"backward weight", 9},
      {"grad reduce", 3}, {"grad norm", 5}, {"optimizer", 4},      {"param gather", 6}};
  for (const auto& [name, colour] : kPhases) {
    if (phase == name) return colour;
  }
  return kGreyColour;
}

// The critical path: a row for each run of it, at its place in the step.
std::string CriticalPath(const Json& plan) {
  const Json& runs = plan.at("critical_path");
  BarsChart chart{.title = "The critical path",
                  .note = "What the step waits for from its beginning to its end.",
                  .x = {.label = "time since the step began (ms)", .min = 0},
                  .row_label = "run",
                  .rows = {},
                  .series = {},
                  .bars = {},
                  .zooms = true};
  std::vector<std::string> phases;
  for (size_t i = 0; i < std::min(runs.size(), kMostRuns); ++i) {
    const Json& run = runs[i];
    const auto phase = run.at("phase").get<std::string>();
    const auto found = std::find(phases.begin(), phases.end(), phase);
    const auto series = static_cast<int>(found - phases.begin());
    if (found == phases.end()) {
      phases.push_back(phase);
      chart.series.push_back({phase, SeriesStyle::kBar, ColourOfPhase(phase)});
    }
    const int row = static_cast<int>(chart.rows.size());
    chart.rows.push_back(fmt::format("{}", i + 1));
    const double from = run.at("from_ms").get<double>(), to = run.at("to_ms").get<double>();
    chart.bars.push_back({row, series, from, to, "",
                          fmt::format("{}. {}\n{:.3f} ms, from {:.3f} ms\nit starts after: {}",
                                      i + 1, run.at("what").get<std::string>(), to - from, from,
                                      run.at("starts_after").get<std::string>())});
  }
  if (chart.rows.empty()) return "";
  std::string html = ToHtml(chart);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < chart.rows.size(); ++i) {
    const double from = runs[i].at("from_ms").get<double>(), to = runs[i].at("to_ms").get<double>();
    rows.push_back(
        {chart.rows[i], runs[i].at("what").get<std::string>(), DecimalText(to - from, 3)});
  }
  html += HtmlCards({"run", "what", "time (ms)"}, rows, CardCells::kNumbersFromThird);
  if (runs.size() > kMostRuns) {
    html += fmt::format("<p>… and {} runs more</p>\n", runs.size() - kMostRuns);
  }
  return html;
}

// Returns the colour of waits with this cause in the chart of device times.
int ColourOfCause(const std::string& cause) {
  for (const DeviceTime& time : kDeviceTimes) {
    if (std::string_view(time.name) == "waits: " + cause) return time.colour;
  }
  return kGreyColour;
}

std::string Waits(const Json& plan) {
  const Json& waits = plan.at("waits");
  if (waits.empty()) return "";
  BarsChart chart{.title = "What stages wait for",
                  .note = fmt::format("The {} longest waits.", std::min(waits.size(), kMostWaits)),
                  .x = {.label = "time (ms)", .min = 0},
                  .row_label = "",
                  .rows = {},
                  .series = {},
                  .bars = {}};
  std::vector<std::string> causes;
  for (size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i) {
    const Json& wait = waits[i];
    const std::string stage = "stage " + NumberText(wait.at("stage"));
    const Json& phase = wait.at("for_phase");
    const Json& other = wait.at("for_stage");
    const double time = wait.at("time_ms").get<double>();
    const auto cause = wait.at("cause").get<std::string>();
    const auto found = std::find(causes.begin(), causes.end(), cause);
    const auto series = static_cast<int>(found - causes.begin());
    if (found == causes.end()) {
      causes.push_back(cause);
      chart.series.push_back({cause, SeriesStyle::kBar, ColourOfCause(cause)});
    }
    std::string tip = fmt::format("{} waits {:.3f} ms: {}", stage, time, cause);
    if (phase.is_string()) tip += ", for " + phase.get<std::string>();
    if (!other.is_null()) tip += " of stage " + NumberText(other);
    chart.rows.push_back(stage);
    chart.bars.push_back({static_cast<int>(i), series, 0, time, cause, tip});
  }
  return ToHtml(chart);
}

std::string Mechanisms(const Json& plan) {
  if (!plan.contains("mechanisms") || plan.at("mechanisms").empty()) return "";
  BarsChart chart{.title = "What mechanisms add to the step",
                  .note = "How much shorter the step would be without each of them.",
                  .x = {.label = "time (ms)"},
                  .row_label = "",
                  .rows = {},
                  .series = {{"added time", SeriesStyle::kBar, 4}},
                  .bars = {}};
  for (const Json& mechanism : plan.at("mechanisms")) {
    const double time = mechanism.at("time_ms").get<double>();
    chart.bars.push_back({static_cast<int>(chart.rows.size()), 0, std::min(time, 0.0),
                          std::max(time, 0.0), "",
                          fmt::format("{}\n{:.3f} ms, {:.1f} % of the step",
                                      mechanism.at("meaning").get<std::string>(), time,
                                      100 * mechanism.at("share").get<double>())});
    chart.rows.push_back(mechanism.at("name").get<std::string>());
  }
  return ToHtml(chart);
}

}  // namespace

std::string ExplainSections(const Json& plan) {
  return DeviceTimes(plan) + "<h2>Critical path</h2>\n" + CriticalPath(plan) + "<h2>Causes</h2>\n" +
         Waits(plan) + Mechanisms(plan);
}

}  // namespace stagecraft
