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

// The label of 10^power microseconds.
std::string TimeTick(int power) {
  if (power < 0) return fmt::format("{:g} us", std::pow(10.0, power));
  const int unit = std::min(power / 3, 2);
  constexpr const char* kUnits[] = {"us", "ms", "s"};
  return fmt::format("{:g} {}", std::pow(10.0, power - 3 * unit), kUnits[unit]);
}

bool IsShown(const ScatterPoint& p) {
  return p.x > 0 && p.y > 0 && std::isfinite(p.x) && std::isfinite(p.y);
}

constexpr double kMostPercent = 150;  // longer bars are cut

}  // namespace

std::string ToSvg(const Scatter& chart) {
  double low = INFINITY, high = 0;
  for (const ScatterPoint& point : chart.points) {
    if (!IsShown(point)) continue;
    low = std::min({low, point.x, point.y});
    high = std::max({high, point.x, point.y});
  }
  if (high == 0) low = high = 1;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high))));
  const auto x_at = [&](double power) {
    return kChartLeft + kPlot * (power - first) / (last - first);
  };
  const auto y_at = [&](double power) { return kChartTop + kPlot - (x_at(power) - kChartLeft); };

  const int height = std::max(kPlot, kLegendLine * static_cast<int>(chart.series.size())) +
                     kChartTop + kChartBottom;
  std::string svg = SvgBegin(kChartLeft + kPlot + kLegendWidth, height);
  for (int power = first; power <= last; ++power) {
    svg += SvgLine(x_at(power), y_at(first), x_at(power), y_at(last), "grid");
    svg += SvgLine(x_at(first), y_at(power), x_at(last), y_at(power), "grid");
    svg += SvgText(x_at(power), kChartTop + kPlot + 16, "middle", TimeTick(power));
    svg += SvgText(kChartLeft - 6, y_at(power) + 4, "end", TimeTick(power));
  }
  svg += SvgText(kChartLeft + kPlot / 2, kChartTop + kPlot + 36, "middle", chart.x_label);
  svg += SvgYLabel(kChartTop + kPlot / 2, chart.y_label);
  svg += "<g fill-opacity=\"0.7\">\n";
  for (const ScatterPoint& point : chart.points) {
    if (!IsShown(point)) continue;
    svg += SvgMark(x_at(std::log10(point.x)), y_at(std::log10(point.y)), point.series, point.title);
  }
  svg += "</g>\n" + SvgLine(x_at(first), y_at(first), x_at(last), y_at(last), "dashed");
  return svg + SvgLegend(kChartLeft + kPlot + 16, chart.series) + "</svg>\n";
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
