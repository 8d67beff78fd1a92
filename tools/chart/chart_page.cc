#include "tools/chart/chart_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/check.h"
#include "tools/chart/escape.h"
#include "tools/chart/web_assets.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Heights in pixels: of a row of bars, of a chart without its plot, of a chart of points.
constexpr double kMostRow = 26, kLeastRow = 2, kRoomForRows = 900, kAround = 110;
constexpr double kPointsHeight = 380, kNarrowHeight = 440;

constexpr int kDigits = 7;  // of numbers in the page

// The number with as many digits as a chart can show, which keeps pages small.
double Rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, kDigits - 1 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

const char* StyleName(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kBar:
      return "bar";
    case SeriesStyle::kLimit:
      return "limit";
    case SeriesStyle::kPoints:
      return "points";
    case SeriesStyle::kLine:
      return "line";
    case SeriesStyle::kSteps:
      return "steps";
    case SeriesStyle::kArea:
      return "area";
    case SeriesStyle::kDashed:
      return "dashed";
    case SeriesStyle::kDotted:
      return "dotted";
    case SeriesStyle::kMark:
      return "mark";
  }
  CHECK(false);
}

Json AxisToJson(const ChartAxis& axis) {
  Json json = {{"label", axis.label}};
  if (axis.is_logarithmic) json["log"] = true;
  if (axis.min) json["min"] = Rounded(*axis.min);
  if (axis.max) json["max"] = Rounded(*axis.max);
  return json;
}

Json SeriesToJson(const std::vector<ChartSeries>& series) {
  Json json = Json::array();
  int place = 0;
  for (const ChartSeries& one : series) {
    const int colour = one.colour < 0 ? place : one.colour;
    json.push_back({{"name", one.name}, {"colour", colour}, {"style", StyleName(one.style)}});
    ++place;
  }
  return json;
}

// Text of a <script> that no text within it can end: "<" is written as an escape of JSON.
std::string ScriptText(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

struct Figure {
  const std::string& title;
  const std::string& note;
  double height;
  double row_height;  // 0: no rows
  bool is_narrow;
  bool zooms;
};

std::string FigureHtml(const Figure& figure, const Json& spec) {
  std::string html =
      fmt::format("<figure class=\"chart{}\" data-row=\"{:g}\">\n<figcaption>{}",
                  figure.is_narrow ? " narrow" : "", figure.row_height, EscapeXml(figure.title));
  html += "</figcaption>\n";
  if (!figure.note.empty()) html += "<p class=\"note\">" + EscapeXml(figure.note) + "</p>\n";
  html += fmt::format(
      "<div class=\"plot\" style=\"height: {:.0f}px\"><canvas role=\"img\" aria-label=\"{}\">"
      "</canvas></div>\n<div class=\"tools\" hidden=\"\">\n",
      figure.height, EscapeXml(figure.title));
  if (figure.zooms) {
    constexpr std::pair<const char*, const char*> kButtons[] = {{"in", "Zoom in"},
                                                                {"out", "Zoom out"},
                                                                {"left", "Left"},
                                                                {"right", "Right"},
                                                                {"whole", "Whole"}};
    for (const auto& [action, name] : kButtons) {
      html += fmt::format("<button type=\"button\" data-zoom=\"{}\">{}</button>\n", action, name);
    }
  }
  html += "<button type=\"button\" class=\"save\">Save as CSV</button>\n</div>\n";
  return html + "<script type=\"application/json\">" + ScriptText(spec) + "</script>\n</figure>\n";
}

Json BarToJson(const ChartBar& bar) {
  Json item = {bar.row, bar.series, Rounded(bar.begin), Rounded(bar.end)};
  if (!bar.text.empty() || !bar.tip.empty()) item.push_back(bar.text);
  if (!bar.tip.empty()) item.push_back(bar.tip);
  return item;
}

bool IsShown(const PointsChart& chart, const ChartPoint& point) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return false;
  return (point.x > 0 || !chart.x.is_logarithmic) && (point.y > 0 || !chart.y.is_logarithmic);
}

std::string LicenceHtml() {
  return "<details class=\"licence\">\n<summary>Charts by Chart.js 3.9.1, MIT licence</summary>\n"
         "<pre>" +
         EscapeXml(std::string(ChartLicence())) + "</pre>\n</details>\n";
}

// Returns the largest number of one digit and zeros that is not above `value` > 0: the end of an
// axis at which it can be labelled.
double RoundedDown(double value) {
  constexpr double kRounding = 1e-9;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  return unit * std::floor(value / unit + kRounding);
}

}  // namespace

void AddStack(BarsChart& chart, int row, const std::vector<double>& values) {
  double end = 0;
  for (int series = 0; series < static_cast<int>(values.size()); ++series) {
    const double value = values[static_cast<size_t>(series)];
    if (!(value > 0)) continue;
    chart.bars.push_back({row, series, end, end + value});
    end += value;
  }
}

void AddDiagonal(PointsChart& chart, double least, double most) {
  constexpr double kMargin = 0.2;  // of the axes around the points, as a share
  least = RoundedDown(least * (1 - kMargin));
  most *= 1 + kMargin;
  chart.x.min = chart.y.min = least;
  chart.x.max = chart.y.max = most;
  const auto line = [&](const std::string& name, SeriesStyle style, double factor) {
    chart.series.push_back({name, style});
    const int series = static_cast<int>(chart.series.size()) - 1;
    for (const double x : {std::max(least, least / factor), std::min(most, most / factor)}) {
      chart.points.push_back({series, x, x * factor, name});
    }
  };
  line("as measured", SeriesStyle::kDashed, 1);
  line(fmt::format("{:g} % more", 100 * kErrorBand), SeriesStyle::kDotted, 1 + kErrorBand);
  line(fmt::format("{:g} % less", 100 * kErrorBand), SeriesStyle::kDotted, 1 - kErrorBand);
}

std::string ToHtml(const BarsChart& chart) {
  const auto rows = static_cast<double>(chart.rows.size());
  const double row_height = std::clamp(kRoomForRows / std::max(rows, 1.0), kLeastRow, kMostRow);
  Json items = Json::array();
  for (const ChartBar& bar : chart.bars) {
    if (std::isfinite(bar.begin) && std::isfinite(bar.end)) items.push_back(BarToJson(bar));
  }
  const Json spec = {{"kind", "bars"},
                     {"title", chart.title},
                     {"x", AxisToJson(chart.x)},
                     {"y", {{"label", chart.row_label}}},
                     {"rows", chart.rows},
                     {"series", SeriesToJson(chart.series)},
                     {"grouped", chart.is_grouped},
                     {"apart", chart.are_apart},
                     {"zooms", chart.zooms},
                     {"items", std::move(items)}};
  return FigureHtml(
      {chart.title, chart.note, kAround + rows * row_height, row_height, false, chart.zooms}, spec);
}

std::string ToHtml(const PointsChart& chart) {
  Json items = Json::array();
  for (const ChartPoint& point : chart.points) {
    if (!IsShown(chart, point)) continue;
    Json item = {point.series, Rounded(point.x), Rounded(point.y)};
    if (!point.tip.empty() || point.row >= 0) item.push_back(point.tip);
    if (point.row >= 0) item.push_back(point.row);
    items.push_back(std::move(item));
  }
  const Json spec = {{"kind", "points"},
                     {"title", chart.title},
                     {"x", AxisToJson(chart.x)},
                     {"y", AxisToJson(chart.y)},
                     {"series", SeriesToJson(chart.series)},
                     {"zooms", chart.zooms},
                     {"items", std::move(items)}};
  return FigureHtml({chart.title, chart.note, chart.is_narrow ? kNarrowHeight : kPointsHeight, 0,
                     chart.is_narrow, chart.zooms},
                    spec);
}

HtmlExtras Charts() {
  return {.style = std::string(ChartStyle()),
          .script = std::string(ChartLibrary()) + "\n" + std::string(ChartScript()),
          .footer = LicenceHtml()};
}

}  // namespace stagecraft
