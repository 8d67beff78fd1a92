#include "tools/chart/bar_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/chart/svg_parts.h"

namespace stagecraft {
namespace {

// Sizes in units of the drawing, which is as wide as the page.
constexpr int kWidth = 500, kLeft = 124, kTop = 8, kBottom = 46;
constexpr int kPlotWidth = 300;  // what is left over is for the values
constexpr int kRow = 26, kBar = 16;

// Returns three digits; values too small to matter are not spelled out.
std::string ValueText(double value) {
  return value != 0 && std::abs(value) < 0.001 ? "< 0.001" : fmt::format("{:.3g}", value);
}

}  // namespace

std::string ToHtml(const BarRows& chart) {
  double least = 0, most = 0;
  for (const BarRow& row : chart.rows) {
    least = std::min(least, row.value);
    most = std::max(most, row.value);
  }
  if (most <= least) most = least + 1;
  const auto x = [&](double value) {
    return kLeft + kPlotWidth * (value - least) / (most - least);
  };
  const int bottom = kTop + kRow * static_cast<int>(chart.rows.size());
  std::string svg = SvgBegin(kWidth, bottom + kBottom);
  const double step = TickStep(most - least);
  for (double i = std::ceil(least / step); i * step <= most * 1.0001; ++i) {
    svg += SvgLine(x(i * step), kTop, x(i * step), bottom, "grid");
    svg += SvgText(x(i * step), bottom + 16, "middle", fmt::format("{:g}", i * step));
  }
  svg += SvgText(kLeft + kPlotWidth / 2.0, bottom + 37, "middle", chart.x_label);
  double y = kTop;
  for (const BarRow& row : chart.rows) {
    const double left = x(std::min(row.value, 0.0)), right = x(std::max(row.value, 0.0));
    svg += SvgText(kLeft - 6 - (least < 0 ? 4 : 0), y + kRow / 2.0 + 4, "end", row.name);
    svg += fmt::format(
        "<rect class=\"bar\" data-tip=\"area\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
        left, y + (kRow - kBar) / 2.0, std::max(right - left, 0.5), kBar, SeriesColour(0),
        EscapeXml(row.title));
    svg += SvgText(right + 5, y + kRow / 2.0 + 4, "start", ValueText(row.value));
    y += kRow;
  }
  return "<div class=\"chart time bars\" role=\"group\" aria-label=\"" + EscapeXml(chart.x_label) +
         "\">\n" + svg + "</svg>\n<div class=\"tip\" hidden=\"\"></div>\n</div>\n";
}

}  // namespace stagecraft
