#include "tools/report/curve_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/chart/chart_page.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostDecades = 5;  // that the horizontal axis covers

// The label of a score with this key.
std::string ScoreLabel(const std::string& key) {
  if (key == "step_time_ms") return "step time (ms)";
  if (key == "bottleneck_s") return "slowest stage (s)";
  if (key == "memory_share") return "share of memory";
  if (key == "device_seconds") return "device-seconds";
  return key == "cost_usd" ? "cost (USD)" : key;
}

// Returns the key of a point's score, which names what was minimised and its unit: the only key
// that is not about what the search had spent. "score" if there is none.
std::string ScoreKey(const Json& point) {
  for (const auto& [key, value] : point.items()) {
    if (key != "evaluations" && key != "seconds") return key;
  }
  return "score";
}

// What a search spent in all, by "evaluations" or "seconds".
double SpentBy(const Json& answer, const std::string& name, const char* axis) {
  if (answer.contains("algorithms")) {
    for (const Json& algorithm : answer.at("algorithms")) {
      if (algorithm.at("algorithm") == name) return algorithm.at(axis).get<double>();
    }
  }
  if (std::string(axis) == "evaluations") return answer.value("evaluated", 0.0);
  return answer.value("wall_ms", 0.0) * 1e-3;
}

std::string CurveChartOf(const Json& answer, const char* axis, const std::string& title,
                         const std::string& label, const CurveScore& shown,
                         const std::optional<CurveBound>& bound) {
  PointsChart chart{.title = title,
                    .note = "",
                    .x = {.label = label, .is_logarithmic = true},
                    .y = {.label = ""},
                    .series = {},
                    .points = {}};
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& [name, points] : answer.at("curves").items()) {
    if (points.empty()) continue;
    const int series = static_cast<int>(chart.series.size());
    chart.series.push_back({name, SeriesStyle::kSteps});
    double score = 0;
    for (const Json& point : points) {
      const std::string key = ScoreKey(point);
      chart.y.label = shown.label.empty() ? ScoreLabel(key) : shown.label;
      if (!point.at(key).is_number()) continue;  // no plan that fits yet
      score = shown.factor * point.at(key).get<double>();
      const auto spent = point.at(axis).get<double>();
      if (spent > 0) least = std::min(least, spent);
      most = std::max(most, spent);
      chart.points.push_back(
          {series, spent, score,
           fmt::format("{}: {:.6g} after {:.4g} {}\n{}", name, score, spent, axis, chart.y.label)});
    }
    const double end = SpentBy(answer, name, axis);
    most = std::max(most, end);
    if (chart.points.empty() || chart.points.back().series != series) continue;
    chart.points.push_back(
        {series, end, score, fmt::format("{}: {:.6g} in the end\n{}", name, score, chart.y.label)});
  }
  if (chart.points.empty() || !(most > 0)) return "";
  const double begin = std::max(std::min(least, most), most / std::pow(10.0, kMostDecades));
  for (ChartPoint& point : chart.points) point.x = std::max(point.x, begin);
  if (bound) {
    const int series = static_cast<int>(chart.series.size());
    chart.series.push_back({bound->name, SeriesStyle::kDashed, kGreyColour});
    for (const double x : {begin, most})
      chart.points.push_back({series, x, shown.factor * bound->score});
  }
  return ToHtml(chart);
}

}  // namespace

std::string CurveCharts(const Json& answer, const CurveScore& shown,
                        const std::optional<CurveBound>& bound) {
  if (!answer.contains("curves")) return "";
  return CurveChartOf(answer, "evaluations", "Best so far, over evaluations", "evaluations", shown,
                      bound) +
         CurveChartOf(answer, "seconds", "Best so far, over time", "time (s)", shown, bound);
}

}  // namespace stagecraft
