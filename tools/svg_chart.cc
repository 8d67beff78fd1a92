#include "tools/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

// Pixels.
constexpr int kLeft = 64, kTop = 16, kBottom = 48;
constexpr int kPlot = 400;  // side of a scatter
constexpr int kBarsHeight = 220;
constexpr int kLegend = 190;
constexpr int kLine = 18;  // of a legend

// Told apart on white and on black.
constexpr const char* kColours[] = {"#4e8fd0", "#e08a1e", "#46a35e", "#d9534f", "#9673c9",
                                    "#a9745b", "#d66fb0", "#8a8f98", "#a8a52a", "#2aa5b0"};
constexpr int kColourCount = 10;

const char* Colour(int series) { return kColours[series % kColourCount]; }

std::string Begin(int width, int height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n",
      width, height);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     EscapeXml(text));
}

std::string Line(double x1, double y1, double x2, double y2, const char* kind) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, kind);
}

std::string YLabel(int middle, const std::string& text) {
  return fmt::format(
      "<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0})\">{1}"
      "</text>\n",
      middle, EscapeXml(text));
}

// A dot; the second and third ten series differ in shape.
std::string Mark(double x, double y, int series, const std::string& title) {
  const std::string inside = title.empty() ? "" : "<title>" + EscapeXml(title) + "</title>";
  switch (series / kColourCount % 3) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\">{}</circle>\n",
                         x, y, Colour(series), inside);
    case 1:
      return fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"4.5\" height=\"4.5\" fill=\"{}\">{}</rect>\n",
          x - 2.25, y - 2.25, Colour(series), inside);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l3 5h-6z\" fill=\"{}\">{}</path>\n", x, y - 3,
                         Colour(series), inside);
  }
}

std::string Legend(int x, const std::vector<std::string>& names) {
  std::string svg;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    const int y = kTop + 12 + kLine * i;
    svg += Mark(x, y - 4, i, "") + Text(x + 10, y, "start", names[i]);
  }
  return svg;
}

// 10^power microseconds.
std::string TimeTick(int power) {
  if (power < 0) return fmt::format("{:g} us", std::pow(10.0, power));
  const int unit = std::min(power / 3, 2);
  constexpr const char* kUnits[] = {"us", "ms", "s"};
  return fmt::format("{:g} {}", std::pow(10.0, power - 3 * unit), kUnits[unit]);
}

bool IsShown(const ScatterPoint& p) {
  return p.x > 0 && p.y > 0 && std::isfinite(p.x) && std::isfinite(p.y);
}

// A round number of which a few make up `most`.
double TickStep(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most)));
  for (const double factor : {0.1, 0.2, 0.5, 1.0}) {
    if (most / (factor * power) <= 6) return factor * power;
  }
  return 2 * power;
}

constexpr double kMostPercent = 150;  // a bar beyond is cut

}  // namespace

std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return escaped;
}

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
  const auto x_at = [&](double power) { return kLeft + kPlot * (power - first) / (last - first); };
  const auto y_at = [&](double power) { return kTop + kPlot - (x_at(power) - kLeft); };

  const int height =
      std::max(kPlot, kLine * static_cast<int>(chart.series.size())) + kTop + kBottom;
  std::string svg = Begin(kLeft + kPlot + kLegend, height);
  for (int power = first; power <= last; ++power) {
    svg += Line(x_at(power), y_at(first), x_at(power), y_at(last), "grid");
    svg += Line(x_at(first), y_at(power), x_at(last), y_at(power), "grid");
    svg += Text(x_at(power), kTop + kPlot + 16, "middle", TimeTick(power));
    svg += Text(kLeft - 6, y_at(power) + 4, "end", TimeTick(power));
  }
  svg += Text(kLeft + kPlot / 2, kTop + kPlot + 36, "middle", chart.x_label);
  svg += YLabel(kTop + kPlot / 2, chart.y_label);
  svg += "<g fill-opacity=\"0.7\">\n";
  for (const ScatterPoint& point : chart.points) {
    if (!IsShown(point)) continue;
    svg += Mark(x_at(std::log10(point.x)), y_at(std::log10(point.y)), point.series, point.title);
  }
  svg += "</g>\n" + Line(x_at(first), y_at(first), x_at(last), y_at(last), "diagonal");
  return svg + Legend(kLeft + kPlot + 16, chart.series) + "</svg>\n";
}

std::string ToSvg(const BarChart& chart) {
  constexpr int kBar = 30, kGap = 24;
  const int series_count = static_cast<int>(chart.series.size());
  const int group_width = kBar * series_count + kGap;
  // Room for the name of a group.
  const int step = std::max(group_width, 84);
  const int width = std::max(1, static_cast<int>(chart.groups.size())) * step;
  double most = 1;
  for (const auto& group : chart.values) {
    for (const double value : group) most = std::max(most, std::min(value, kMostPercent));
  }
  const auto y_at = [&](double value) {
    return kTop + kBarsHeight * (1 - std::min(value, most) / (1.08 * most));
  };

  const int height = std::max(kBarsHeight, kLine * series_count) + kTop + kBottom;
  std::string svg = Begin(kLeft + width + kLegend, height);
  const double tick = TickStep(most);
  for (int i = 0; i * tick <= most * 1.0001; ++i) {
    svg += Line(kLeft, y_at(i * tick), kLeft + width, y_at(i * tick), "grid");
    svg += Text(kLeft - 6, y_at(i * tick) + 4, "end", fmt::format("{:g}", i * tick));
  }
  for (int group = 0; group < static_cast<int>(chart.groups.size()); ++group) {
    const double middle = kLeft + step * (group + 0.5);
    svg += Text(middle, kTop + kBarsHeight + 16, "middle", chart.groups[group]);
    for (int i = 0; i < series_count; ++i) {
      const double value = chart.values[group][i];
      if (!(value >= 0)) continue;
      const double x = middle + kBar * (i - series_count / 2.0);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x + 2,
          y_at(value), kBar - 4, kTop + kBarsHeight - y_at(value), Colour(i));
      svg += Text(x + kBar / 2.0, y_at(value) - 3, "middle",
                  fmt::format("{:.{}f}", value, value < 100 ? 1 : 0));
    }
  }
  svg += YLabel(kTop + kBarsHeight / 2, chart.y_label);
  return svg + Legend(kLeft + width + 16, chart.series) + "</svg>\n";
}

}  // namespace stagecraft
