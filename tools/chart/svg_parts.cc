#include "tools/chart/svg_parts.h"

#include <fmt/core.h>

#include <cmath>

namespace stagecraft {
namespace {

constexpr const char* kColours[] = {"#4e8fd0", "#e08a1e", "#46a35e", "#d9534f", "#9673c9",
                                    "#a9745b", "#d66fb0", "#8a8f98", "#a8a52a", "#2aa5b0"};
constexpr int kColourCount = 10;

}  // namespace

const char* SeriesColour(int series) { return kColours[series % kColourCount]; }

std::string SvgBegin(int width, int height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n",
      width, height);
}

std::string SvgText(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     EscapeXml(text));
}

std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, kind);
}

std::string SvgYLabel(int middle, const std::string& text) {
  return fmt::format(
      "<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0})\">{1}"
      "</text>\n",
      middle, EscapeXml(text));
}

std::string SvgMark(double x, double y, int series, const std::string& title,
                    const std::string& attributes) {
  const std::string inside = title.empty() ? "" : "<title>" + EscapeXml(title) + "</title>";
  const std::string rest =
      fmt::format("fill=\"{}\"{}>{}</", SeriesColour(series), attributes, inside);
  switch (series / kColourCount % 3) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" {}circle>\n", x, y, rest);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"4.5\" height=\"4.5\" {}rect>\n",
                         x - 2.25, y - 2.25, rest);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l3 5h-6z\" {}path>\n", x, y - 3, rest);
  }
}

std::string SvgLegend(int x, const std::vector<std::string>& names) {
  std::string svg;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    const int y = kChartTop + 12 + kLegendLine * i;
    svg += SvgMark(x, y - 4, i, "") + SvgText(x + 10, y, "start", names[i]);
  }
  return svg;
}

double TickStep(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most)));
  for (const double factor : {0.1, 0.2, 0.5, 1.0}) {
    if (most / (factor * power) <= 6) return factor * power;
  }
  return 2 * power;
}

}  // namespace stagecraft
