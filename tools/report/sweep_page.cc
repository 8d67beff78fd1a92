#include "tools/report/sweep_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/commas.h"

namespace stagecraft {
namespace {

constexpr size_t kMostValues = 60;   // values of a flag that are drawn
constexpr size_t kMostListed = 100;  // points in the table

using Points = std::vector<const SweepPoint*>;

std::string Words(const SweepPoint& point) {
  std::string words;
  for (const auto& [flag, value] : point.flags) {
    words += fmt::format("{}--{} {}", words.empty() ? "" : " ", flag, value);
  }
  return words;
}

// Returns the points that fit and have all results.
Points Fitting(const std::vector<SweepPoint>& points) {
  Points fitting;
  for (const SweepPoint& point : points) {
    const bool is_whole =
        point.gpus && point.step_time_ms && point.tokens_per_s && point.peak_memory_gib;
    if (point.outcome == "fits" && is_whole) fitting.push_back(&point);
  }
  return fitting;
}

// A number of a point, of which less is better.
struct Price {
  std::string label;  // with the unit
  std::optional<double> SweepPoint::*value;
};

// Throughput over what it takes, with a line through the points that no other beats in both.
std::string FrontChart(const Points& points, const std::string& title, const Price& price) {
  PointsChart chart{.title = title,
                    .note = "The line joins the points that no other beats in both.",
                    .x = {.label = price.label},
                    .y = {.label = "throughput (tokens/s)", .min = 0},
                    .series = {{"not beaten", SeriesStyle::kSteps, 0},
                               {"other points", SeriesStyle::kPoints, kGreyColour}},
                    .points = {}};
  Points order = points;
  const auto value = [&](const SweepPoint* point) { return *(point->*price.value); };
  std::stable_sort(order.begin(), order.end(), [&](const SweepPoint* a, const SweepPoint* b) {
    return std::pair(value(a), -*a->tokens_per_s) < std::pair(value(b), -*b->tokens_per_s);
  });
  const size_t every = (order.size() + kMostSweepPoints - 1) / kMostSweepPoints;
  double best = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const SweepPoint& point = *order[i];
    const bool is_best = *point.tokens_per_s > best;
    best = std::max(best, *point.tokens_per_s);
    if (!is_best && i % every != 0) continue;
    chart.points.push_back(
        {is_best ? 0 : 1, value(order[i]), *point.tokens_per_s,
         fmt::format("{}\n{} tokens/s, {} ms per step\n{:g} GPUs, {:.4g} GiB", Words(point),
                     AmountText(*point.tokens_per_s), AmountText(*point.step_time_ms), *point.gpus,
                     *point.peak_memory_gib)});
  }
  if (every > 1) chart.note += fmt::format(" Of the others one in {} is drawn.", every);
  return ToHtml(chart);
}

// The best throughput per GPU with each value of a flag; "" if the flag has one value alone.
std::string FlagChart(const Points& points, const std::string& flag) {
  std::map<std::string, const SweepPoint*> best;
  std::vector<std::string> values;  // in order of appearance
  const auto per_gpu = [](const SweepPoint& point) { return *point.tokens_per_s / *point.gpus; };
  for (const SweepPoint* point : points) {
    const auto found = point->flags.find(flag);
    if (found == point->flags.end() || !(*point->gpus > 0)) continue;
    const auto [known, is_new] = best.emplace(found->second, point);
    if (is_new) values.push_back(found->second);
    if (per_gpu(*point) > per_gpu(*known->second)) known->second = point;
  }
  if (values.size() < 2) return "";
  BarsChart chart{.title = "Best throughput by --" + flag,
                  .note = "Of all points with each value.",
                  .x = {.label = "throughput (tokens/s per GPU)", .min = 0},
                  .row_label = "--" + flag,
                  .rows = {},
                  .series = {{"best point"}},
                  .bars = {}};
  for (size_t i = 0; i < std::min(values.size(), kMostValues); ++i) {
    const SweepPoint& point = *best.at(values[i]);
    chart.rows.push_back(values[i]);
    chart.bars.push_back(
        {static_cast<int>(i), 0, 0, per_gpu(point), "",
         fmt::format("{} tokens/s per GPU\n{}", AmountText(per_gpu(point)), Words(point))});
  }
  if (values.size() > kMostValues) {
    chart.note += fmt::format(" The first {} of {} values.", kMostValues, values.size());
  }
  return ToHtml(chart);
}

// The flags that have the same value at all points, and those that vary.
struct FlagSplit {
  std::map<std::string, std::string> common;
  std::vector<std::string> varied;  // in alphabetical order
};

FlagSplit SplitFlags(const Points& points) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, size_t> counts;
  for (const SweepPoint* point : points) {
    for (const auto& [flag, value] : point->flags) {
      values[flag].insert(value);
      ++counts[flag];
    }
  }
  FlagSplit split;
  for (const auto& [flag, seen] : values) {
    if (seen.size() == 1 && counts[flag] == points.size()) {
      split.common.emplace(flag, *seen.begin());
    } else {
      split.varied.push_back(flag);
    }
  }
  return split;
}

// The values of flags that vary, as "tp 2, pp 4".
std::string VariedWords(const SweepPoint& point, const std::vector<std::string>& varied) {
  std::string words;
  for (const std::string& flag : varied) {
    const auto found = point.flags.find(flag);
    if (found == point.flags.end()) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", flag, found->second);
  }
  return words;
}

std::string BestTable(Points points) {
  std::stable_sort(points.begin(), points.end(), [](const SweepPoint* a, const SweepPoint* b) {
    return *a->tokens_per_s > *b->tokens_per_s;
  });
  const FlagSplit split = SplitFlags(points);
  std::string html;
  if (!split.common.empty()) {
    SweepPoint common;
    common.flags = split.common;
    html += "<p>All have " + EscapeXml(Words(common)) + ".</p>\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(points.size(), kMostListed); ++i) {
    const SweepPoint& point = *points[i];
    rows.push_back({fmt::format("{}", i + 1), VariedWords(point, split.varied),
                    fmt::format("{:g}", *point.gpus), WithCommas(*point.step_time_ms, 1),
                    WithCommas(*point.tokens_per_s, 0),
                    fmt::format("{:.2f}", *point.peak_memory_gib)});
  }
  html += HtmlCards({"place", "flags", "GPUs", "step (ms)", "tokens/s", "memory (GiB)"}, rows,
                    CardCells::kNumbersFromThird);
  if (points.size() > kMostListed) {
    html += fmt::format("<p>… and {} more</p>\n", points.size() - kMostListed);
  }
  return html;
}

// Points that fit come first, then the other outcomes by name.
std::string OutcomeTable(const std::vector<SweepPoint>& points) {
  std::map<std::pair<bool, std::string>, size_t> counts;
  for (const SweepPoint& point : points) ++counts[{point.outcome != "fits", point.outcome}];
  std::string html = "<table>\n" + HtmlRow({"outcome", "points"}, "th");
  for (const auto& [outcome, count] : counts) {
    html += HtmlRow({outcome.second, WithCommas(fmt::format("{}", count))}, "td");
  }
  return html + "</table>\n";
}

}  // namespace

std::string SweepPage(const std::vector<SweepPoint>& points, const std::string& origin) {
  std::string html = fmt::format("<h1>A sweep of {} points</h1>\n<p>{}</p>\n",
                                 WithCommas(fmt::format("{}", points.size())), EscapeXml(origin)) +
                     OutcomeTable(points);
  const Points fitting = Fitting(points);
  if (fitting.empty()) return HtmlPage("stagecraft sweep", html + "<p>No point fits.</p>\n");
  html += FrontChart(fitting, "Throughput and GPUs", {"GPUs", &SweepPoint::gpus});
  html += FrontChart(fitting, "Throughput and memory",
                     {"peak memory (GiB)", &SweepPoint::peak_memory_gib});
  std::string charts;
  for (const std::string& flag : SplitFlags(fitting).varied) charts += FlagChart(fitting, flag);
  if (!charts.empty()) html += "<h2>Flags</h2>\n" + charts;
  html += "<h2>The fastest points</h2>\n" + BestTable(fitting);
  return HtmlPage("stagecraft sweep", html, Charts());
}

}  // namespace stagecraft
