#include "tools/chart/svg_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/chart/svg_parts.h"

namespace stagecraft {
namespace {

// Sizes in pixels.
constexpr int kPlot = 400;  // width and height of a scatter plot
constexpr int kBarsHeight = 220;

constexpr int kNarrowMargin = 28;  // right of a plot without a legend: half of a label
constexpr size_t kMostTicks = 7;   // more than these would touch each other

std::string TickLabel(double value, ScatterUnit unit) {
  if (unit == ScatterUnit::kGib) return fmt::format("{:g} GiB", value);
  if (value < 1e3) return fmt::format("{:g} us", value);
  if (value < 1e6) return fmt::format("{:g} ms", value / 1e3);
  return fmt::format("{:g} s", value / 1e6);
}

struct RoundNumber {
  double value = 0;
  bool is_power = false;  // of ten
};

// Returns 1, 2 and 5 times powers of ten, from the last one up to `low` to the first one from
// `high` on; at least two. Precondition: 0 < low <= high.
std::vector<RoundNumber> RoundNumbersAround(double low, double high) {
  std::vector<RoundNumber> numbers;
  const double first = std::floor(std::log10(low)) - 1, last = std::ceil(std::log10(high)) + 1;
  for (double power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      numbers.push_back({factor * std::pow(10.0, power), factor == 1.0});
    }
  }
  size_t begin = 0, end = numbers.size();
  while (end - begin > 2 && numbers[begin + 1].value <= low) ++begin;
  while (end - begin > 2 && numbers[end - 2].value >= high) --end;
  return {numbers.begin() + static_cast<std::ptrdiff_t>(begin),
          numbers.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The range of both axes of a scatter plot, and its place on the page.
struct ScatterAxes {
  double low = 0, high = 0;
  std::vector<double> ticks;

  double X(double value) const {
    return kChartLeft + kPlot * std::log(value / low) / std::log(high / low);
  }
  double Y(double value) const { return kChartTop + kPlot - (X(value) - kChartLeft); }
  // Returns the line on which y is `factor` times x, within the plot.
  std::string Line(double factor, const char* kind) const {
    const double begin = std::max(low, low / factor), end = std::min(high, high / factor);
    if (begin >= end) return "";
    return SvgLine(X(begin), Y(begin * factor), X(end), Y(end * factor), kind);
  }
};

bool IsShown(const ScatterPoint& p) {
  return p.x > 0 && p.y > 0 && std::isfinite(p.x) && std::isfinite(p.y);
}

constexpr double kMostPercent = 150;  // longer bars are cut

ScatterAxes AxesOf(const Scatter& chart) {
  double low = INFINITY, high = 0;
  for (const ScatterPoint& point : chart.points) {
    if (!IsShown(point)) continue;
    low = std::min({low, point.x, point.y});
    high = std::max({high, point.x, point.y});
  }
  if (high == 0) low = high = 1;
  const std::vector<RoundNumber> numbers = RoundNumbersAround(low, high);
  ScatterAxes axes{numbers.front().value, numbers.back().value, {}};
  for (const RoundNumber& number : numbers) {
    if (number.is_power || numbers.size() <= kMostTicks) axes.ticks.push_back(number.value);
  }
  return axes;
}

std::string GridOf(const Scatter& chart, const ScatterAxes& axes) {
  const int bottom = kChartTop + kPlot, right = kChartLeft + kPlot;
  std::string svg = SvgLine(kChartLeft, kChartTop, kChartLeft, bottom, "grid") +
                    SvgLine(kChartLeft, bottom, right, bottom, "grid");
  for (const double tick : axes.ticks) {
    const std::string label = TickLabel(tick, chart.unit);
    svg += SvgLine(axes.X(tick), kChartTop, axes.X(tick), bottom, "grid");
    svg += SvgLine(kChartLeft, axes.Y(tick), right, axes.Y(tick), "grid");
    svg += SvgText(axes.X(tick), bottom + 16, "middle", label);
    svg += SvgText(kChartLeft - 6, axes.Y(tick) + 4, "end", label);
  }
  svg += SvgText(kChartLeft + kPlot / 2, bottom + 36, "middle", chart.x_label);
  if (chart.is_narrow) return svg + SvgText(kChartLeft, kChartTop - 4, "start", chart.y_label);
  return svg + SvgYLabel(kChartTop + kPlot / 2, chart.y_label);
}

}  // namespace

std::string ToSvg(const Scatter& chart) {
  const ScatterAxes axes = AxesOf(chart);
  const int legend = chart.is_narrow ? 0 : kLegendLine * static_cast<int>(chart.series.size());
  std::string svg = SvgBegin(kChartLeft + kPlot + (chart.is_narrow ? kNarrowMargin : kLegendWidth),
                             std::max(kPlot, legend) + kChartTop + kChartBottom) +
                    GridOf(chart, axes) + "<g fill-opacity=\"0.7\">\n";
  for (const ScatterPoint& point : chart.points) {
    if (!IsShown(point)) continue;
    const std::string row = point.row < 0 ? "" : fmt::format(" data-row=\"{}\"", point.row);
    svg += SvgMark(axes.X(point.x), axes.Y(point.y), point.series, point.title, row);
  }
  svg += "</g>\n" + axes.Line(1, "dashed");
  if (chart.band > 0) {
    svg += axes.Line(1 + chart.band, "dotted") + axes.Line(1 - chart.band, "dotted");
  }
  if (!chart.is_narrow) svg += SvgLegend(kChartLeft + kPlot + 16, chart.series);
  return svg + "</svg>\n";
}

std::string ToSvg(const BarChart& chart) {
  constexpr int kBar = 30, kGap = 24;
  const int series_count = static_cast<int>(chart.series.size());
  const int group_width = kBar * series_count + kGap;
  // At least 84 pixels, so that there is room for the name of a group.
  const int step = std::max(group_width, 84);
  const int width = std::max(1, static_cast<int>(chart.groups.size())) * step;
  double most = 1;
  for (const auto& group : chart.values) {
    for (const double value : group) most = std::max(most, std::min(value, kMostPercent));
  }
  const auto y_at = [&](double value) {
    return kChartTop + kBarsHeight * (1 - std::min(value, most) / (1.08 * most));
  };

  const int height = std::max(kBarsHeight, kLegendLine * series_count) + kChartTop + kChartBottom;
  std::string svg = SvgBegin(kChartLeft + width + kLegendWidth, height);
  const double tick = TickStep(most);
  for (int i = 0; i * tick <= most * 1.0001; ++i) {
    svg += SvgLine(kChartLeft, y_at(i * tick), kChartLeft + width, y_at(i * tick), "grid");
    svg += SvgText(kChartLeft - 6, y_at(i * tick) + 4, "end", fmt::format("{:g}", i * tick));
  }
  for (int group = 0; group < static_cast<int>(chart.groups.size()); ++group) {
    const double middle = kChartLeft + step * (group + 0.5);
    svg += SvgText(middle, kChartTop + kBarsHeight + 16, "middle", chart.groups[group]);
    for (int i = 0; i < series_count; ++i) {
      const double value = chart.values[group][i];
      if (!(value >= 0)) continue;
      const double x = middle + kBar * (i - series_count / 2.0);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x + 2,
          y_at(value), kBar - 4, kChartTop + kBarsHeight - y_at(value), SeriesColour(i));
      svg += SvgText(x + kBar / 2.0, y_at(value) - 3, "middle",
                     fmt::format("{:.{}f}", value, value < 100 ? 1 : 0));
    }
  }
  svg += SvgYLabel(kChartTop + kBarsHeight / 2, chart.y_label);
  return svg + SvgLegend(kChartLeft + width + 16, chart.series) + "</svg>\n";
}

}  // namespace stagecraft
