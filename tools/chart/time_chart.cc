#include "tools/chart/time_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kLeastSpan = 1.0 / 1200;  // of several spans that become one, of the whole axis
constexpr double kClose = 1.0 / 400;       // marks within this share of the axis become one
constexpr size_t kMostLines = 8;           // of the tip of several marks or spans
constexpr double kHeadroom = 1.05;         // of the vertical axis over the largest value

// Returns the lines of text one below the other, or the first of them and how many are left out.
std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    text += (i == 0 ? "" : "\n") + lines[i];
  }
  if (lines.size() > kMostLines) text += fmt::format("\nand {} more", lines.size() - kMostLines);
  return text;
}

// Joins spans that follow each other and are all narrower than what can be seen.
std::vector<TimeSpan> Drawn(const std::vector<TimeSpan>& spans, double end_of_axis) {
  std::vector<TimeSpan> drawn;
  for (size_t begin = 0, end; begin < spans.size(); begin = end) {
    TimeSpan span = spans[begin];
    double sum = 0;
    std::vector<std::string> titles;
    for (end = begin; end < spans.size(); ++end) {
      const TimeSpan& next = spans[end];
      if (end > begin && next.end - span.begin > kLeastSpan * end_of_axis) break;
      titles.push_back(next.title);
      sum += next.value * (next.end - next.begin);
      span.end = next.end;
    }
    if (titles.size() > 1) {
      span.value = span.end > span.begin ? sum / (span.end - span.begin) : span.value;
      span.title = Joined(titles);
    }
    drawn.push_back(std::move(span));
  }
  return drawn;
}

// Adds a series for each kind of mark that there is, and the marks at this height.
void AddMarks(const TimeAxis& axis, double height, PointsChart& chart) {
  std::vector<int> counts(axis.kinds.size()), series(axis.kinds.size(), -1);
  for (const TimeMark& mark : axis.marks) ++counts[static_cast<size_t>(mark.kind)];
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    series[kind] = static_cast<int>(chart.series.size());
    chart.series.push_back({fmt::format("{} ({})", axis.kinds[kind].name, counts[kind]),
                            SeriesStyle::kMark, axis.kinds[kind].colour});
  }
  for (size_t begin = 0, end; begin < axis.marks.size(); begin = end) {
    std::vector<std::string> titles;
    int kind = axis.marks[begin].kind;
    const double at = axis.marks[begin].at;
    for (end = begin; end < axis.marks.size() && axis.marks[end].at <= at + kClose * axis.end;
         ++end) {
      titles.push_back(axis.marks[end].title);
      kind = std::min(kind, axis.marks[end].kind);
    }
    chart.points.push_back({series[static_cast<size_t>(kind)], at, height, Joined(titles)});
  }
}

}  // namespace

PointsChart ChartOf(const TimeChart& chart, const TimeAxis& axis) {
  double most = 0;
  for (const TimeSpan& span : chart.spans) most = std::max(most, span.value);
  const double height = most > 0 ? kHeadroom * most : 1;
  PointsChart points{.title = chart.title,
                     .note = chart.note,
                     .x = {.label = axis.label, .min = 0, .max = axis.end},
                     .y = {.label = chart.y_label, .min = 0, .max = height},
                     .series = {{chart.y_label, SeriesStyle::kArea, 0}},
                     .points = {},
                     .zooms = true};
  const std::vector<TimeSpan> spans = Drawn(chart.spans, axis.end);
  for (size_t i = 0; i < spans.size(); ++i) {
    const TimeSpan& span = spans[i];
    points.points.push_back({0, span.begin, span.value, span.title});
    // What no span covers is 0.
    const bool is_last = i + 1 == spans.size();
    if (is_last) {
      points.points.push_back({0, span.end, span.value, span.title});
    } else if (spans[i + 1].begin > span.end) {
      points.points.push_back({0, span.end, 0, ""});
    }
  }
  AddMarks(axis, height, points);
  return points;
}

BarsChart ChartOf(const TimeBands& chart, const TimeAxis& axis) {
  BarsChart bars{.title = chart.title,
                 .note = chart.note,
                 .x = {.label = axis.label, .min = 0, .max = axis.end},
                 .row_label = chart.row_label,
                 .rows = {},
                 .series = {},
                 .bars = {},
                 .are_apart = true,
                 .zooms = true};
  for (int row = 0; row < chart.rows; ++row) bars.rows.push_back(fmt::format("{}", row));
  std::set<int> values;
  for (const TimeBand& band : chart.bands) values.insert(band.value);
  for (const int value : values) bars.series.push_back({fmt::format("{} {}", value, chart.unit)});
  for (const TimeBand& band : chart.bands) {
    const auto series = std::distance(values.begin(), values.find(band.value));
    bars.bars.push_back({band.row, static_cast<int>(series), band.begin, band.end,
                         fmt::format("{}", band.value), band.title});
  }
  return bars;
}

}  // namespace stagecraft
