#include "tools/report/algorithm_comparison.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/curve_charts.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// The algorithm's best score; no value if it did not run or found no plan that fits.
std::optional<double> ScoreOf(const ComparedAlgorithm& algorithm) {
  const bool is_found = algorithm.is_feasible && std::isfinite(algorithm.score);
  return is_found ? std::optional(algorithm.score) : std::nullopt;
}

std::optional<double> GapPercent(const AlgorithmComparison& comparison,
                                 const ComparedAlgorithm& algorithm) {
  const std::optional<double> score = ScoreOf(algorithm);
  if (!score || !comparison.bound || !(*comparison.bound > 0)) return std::nullopt;
  return 100 * (*score / *comparison.bound - 1);
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::vector<std::string> Headings(const AlgorithmComparison& comparison) {
  return {"algorithm",   comparison.score_label,  "gap",
          "evaluations", "best after evaluation", "seconds"};
}

std::vector<std::string> Row(const AlgorithmComparison& comparison,
                             const ComparedAlgorithm& algorithm) {
  const SearchCurve& curve = algorithm.curve;
  const bool is_counted = curve.evaluations > 0;
  if (!algorithm.remark.empty()) {
    if (!is_counted) return {curve.name, "not run", "", "", "", ""};
    return {curve.name, "no plan",
            "",         std::to_string(curve.evaluations),
            "",         fmt::format("{:.2f}", curve.seconds)};
  }
  const std::optional<double> score = ScoreOf(algorithm);
  const std::optional<double> gap = GapPercent(comparison, algorithm);
  return {
      curve.name,
      score ? fmt::format("{:.3f}", *score / comparison.unit) : "does not fit",
      algorithm.is_proven ? "proven" : (gap ? fmt::format("{:.2f} %", *gap) : ""),
      is_counted ? std::to_string(curve.evaluations) : "",
      is_counted && !curve.points.empty() ? std::to_string(curve.points.back().evaluations) : "",
      fmt::format("{:.2f}", curve.seconds)};
}

Json CurveToJson(const AlgorithmComparison& comparison, const SearchCurve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    points.push_back({{"evaluations", point.evaluations},
                      {"seconds", point.seconds},
                      {comparison.score_key, point.score / comparison.key_unit}});
  }
  return points;
}

}  // namespace

void PrintComparison(const AlgorithmComparison& comparison, std::ostream& out) {
  out << comparison.problem << "\n\n";
  TextTable table(Headings(comparison), 1);
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    table.Add(Row(comparison, algorithm));
  }
  table.Print(out);
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    if (!algorithm.remark.empty()) {
      out << "note: " << algorithm.curve.name << ": " << algorithm.remark << '\n';
    }
  }
}

Json ComparisonToJson(const AlgorithmComparison& comparison) {
  Json json = {{"algorithms", Json::array()}, {"curves", Json::object()}};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    const SearchCurve& curve = algorithm.curve;
    std::optional<double> score = ScoreOf(algorithm);
    if (score) *score /= comparison.key_unit;
    Json row = {{"algorithm", curve.name},
                {comparison.score_key, OrNull(score)},
                {"gap_percent", OrNull(GapPercent(comparison, algorithm))},
                {"feasible", score.has_value()},
                {"optimal", algorithm.is_proven},
                {"evaluations", curve.evaluations},
                {"seconds", curve.seconds}};
    if (!algorithm.remark.empty()) row["remark"] = algorithm.remark;
    json["algorithms"].push_back(std::move(row));
    json["curves"][curve.name] = CurveToJson(comparison, curve);
  }
  return json;
}

std::string ComparisonToHtml(const AlgorithmComparison& comparison, const std::string& title) {
  std::string html =
      fmt::format("<h1>{}</h1>\n<p>{}</p>\n", EscapeXml(title), EscapeXml(comparison.problem));
  std::vector<std::vector<std::string>> rows;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    rows.push_back(Row(comparison, algorithm));
  }
  html += HtmlCards(Headings(comparison), rows, CardCells::kNumbersFromSecond);
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    if (algorithm.remark.empty()) continue;
    html += fmt::format("<p>{}: {}</p>\n", EscapeXml(algorithm.curve.name),
                        EscapeXml(algorithm.remark));
  }
  std::optional<CurveBound> bound;
  if (comparison.bound) bound = {*comparison.bound / comparison.key_unit, comparison.bound_label};
  const CurveScore score = {comparison.score_label, comparison.key_unit / comparison.unit};
  return HtmlPage(title, html + CurveCharts(ComparisonToJson(comparison), score, bound), Charts());
}

}  // namespace stagecraft
