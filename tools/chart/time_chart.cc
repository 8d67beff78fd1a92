#include "tools/chart/time_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "tools/chart/svg_parts.h"
#include "tools/chart/tips.h"

namespace stagecraft {
namespace {

// Sizes in units of the drawing, which is as wide as the page.
constexpr int kWidth = 500, kLeft = 54, kRight = 16, kTop = 32, kBottom = 44;
constexpr int kPlotWidth = kWidth - kLeft - kRight;
constexpr int kPlotHeight = 130;
constexpr double kShapeHeight = kTop - 7;  // of the middle of the shape above a mark
constexpr double kLeastWidth = 0.4;        // of several spans that become one
constexpr double kClose = 1;               // marks within this distance become one
constexpr size_t kMostLines = 8;           // of the tip of several marks or spans
constexpr int kHighestRow = 18, kLowestRow = 9;
constexpr int kRowsHeight = 216;      // of all rows, if their heights are between these two
constexpr int kLabelledRows = 12;     // with more rows, some have no number at the left
constexpr double kWidestNumber = 27;  // of three digits on a narrow screen

constexpr double kFaintest = 0.1, kDarkest = 0.6;  // opacities of bands

class Plot {
 public:
  Plot(const TimeAxis& axis, const std::string& y_label, int height)
      : axis_(axis), label_(y_label), bottom_(kTop + height) {
    svg_ = SvgBegin(kWidth, bottom_ + kBottom);
    svg_ += SvgText(2, 13, "start", y_label);
    const double step = TickStep(axis.end);
    for (int i = 0; i * step <= axis.end * 1.0001; ++i) {
      svg_ += SvgLine(X(i * step), bottom_, X(i * step), bottom_ + 4, "grid");
      svg_ += SvgText(X(i * step), bottom_ + 18, "middle", fmt::format("{:g}", i * step));
    }
    svg_ += SvgText(kLeft + kPlotWidth / 2.0, bottom_ + 37, "middle", axis.label);
  }

  double X(double at) const { return kLeft + kPlotWidth * std::clamp(at / axis_.end, 0.0, 1.0); }
  int bottom() const { return bottom_; }
  void Add(const std::string& svg) { svg_ += svg; }
  // Adds what is drawn over the marks.
  void AddAbove(const std::string& svg) { above_ += svg; }

  // `attributes` is markup; sizes are those of the drawing.
  void AddRect(double x, double y, double width, double height, const std::string& attributes,
               const std::string& title) {
    svg_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}><title>{}</title>"
        "</rect>\n",
        x, y, width, height, attributes, EscapeXml(title));
  }

  std::string Html() const {
    return "<div class=\"chart time\" role=\"group\" aria-label=\"" + EscapeXml(label_) + "\">\n" +
           svg_ + Marks() + above_ + "</svg>\n<div class=\"tip\" hidden=\"\"></div>\n</div>\n";
  }

 private:
  std::string Marks() const;

  const TimeAxis& axis_;
  const std::string label_;
  const int bottom_;
  std::string svg_, above_;
};

// Returns a shape of about 7 x 7 around a point; the first seven kinds have different ones.
std::string ShapeOf(const TimeAxis& axis, int kind, double x, double y) {
  constexpr const char* kShapes[] = {
      "m-3.5-3.5l7 7m0-7l-7 7",                        // a cross
      "m-3-3.5v7l6.5-3.5z",                            // a triangle to the right
      "m-3.5-3h7l-3.5 6.5z",                           // a triangle that points down
      "m-3.5 3h7l-3.5-6.5z",                           // and one that points up
      "m0-4l4 4l-4 4l-4-4z",                           // a diamond
      "m-3-3h6v6h-6z",                                 // a square
      "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z",  // a circle
  };
  const char* colour = SeriesColour(axis.kinds[static_cast<size_t>(kind)].colour);
  return fmt::format("<path d=\"M{:.1f} {:.1f}{}\" fill=\"{}\" stroke=\"{}\"/>", x, y,
                     kShapes[kind % 7], colour, colour);
}

// Returns the lines of text one below the other, or the first of them and how many are left out.
std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    text += (i == 0 ? "" : "\n") + lines[i];
  }
  if (lines.size() > kMostLines) text += fmt::format("\nand {} more", lines.size() - kMostLines);
  return text;
}

std::string Plot::Marks() const {
  std::string svg;
  for (size_t begin = 0, end; begin < axis_.marks.size(); begin = end) {
    std::vector<std::string> titles;
    int kind = axis_.marks[begin].kind;
    const double x = X(axis_.marks[begin].at);
    for (end = begin; end < axis_.marks.size() && X(axis_.marks[end].at) < x + kClose; ++end) {
      titles.push_back(axis_.marks[end].title);
      kind = std::min(kind, axis_.marks[end].kind);
    }
    svg += fmt::format(
        "<g class=\"mark\" data-tip=\"line\" data-kind=\"{}\" data-count=\"{}\"><line "
        "x1=\"{:.2f}\" "
        "y1=\"{}\" x2=\"{:.2f}\" y2=\"{}\" stroke=\"{}\"/>{}<title>{}</title></g>\n",
        kind, titles.size(), x, kTop - 3, x, bottom_,
        SeriesColour(axis_.kinds[static_cast<size_t>(kind)].colour),
        ShapeOf(axis_, kind, x, kShapeHeight), EscapeXml(Joined(titles)));
  }
  return svg;
}

// Joins spans that follow each other and are all narrower than what can be seen.
std::vector<TimeSpan> Drawn(const std::vector<TimeSpan>& spans, const Plot& plot) {
  std::vector<TimeSpan> drawn;
  for (size_t begin = 0, end; begin < spans.size(); begin = end) {
    TimeSpan span = spans[begin];
    double sum = 0;
    std::vector<std::string> titles;
    for (end = begin; end < spans.size(); ++end) {
      const TimeSpan& next = spans[end];
      if (end > begin && plot.X(next.end) - plot.X(span.begin) > kLeastWidth) break;
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

int RowHeight(int rows) { return std::clamp(kRowsHeight / rows, kLowestRow, kHighestRow); }

constexpr const char* kTimeStyle = R"(
.time { max-width: 60rem; margin: 0 0 1.2rem; }
.time svg { width: 100%; }
.time :is(rect, line, path) { vector-effect: non-scaling-stroke; }
.time:not(.bars) svg text { font-size: 6.2px; }
.span { fill-opacity: 0.55; }
.band { stroke: var(--paper); stroke-width: 1; }
.band.near, .span.near { stroke: var(--ink); stroke-width: 1.5; }
.mark line { stroke-width: 1.2; stroke-dasharray: 3 2; }
.mark path { stroke-width: 1.5; }
.mark.near line { stroke-width: 2.5; stroke-dasharray: none; }
.mark.near { stroke: none; }
.number { pointer-events: none; }
.marks span { display: inline-block; margin-right: 1.2rem; }
.marks svg { display: inline-block; width: 12px; height: 12px; margin: 0 0.4rem 0 0; }
.bars { max-width: 38rem; }
.bars svg text { font-size: 9.5px; }
@media (max-width: 64rem) { .time:not(.bars) svg text { font-size: 8px; } }
@media (max-width: 48rem) { .chart.time svg text { font-size: 11px; } }
@media (max-width: 32rem) {
  .chart.time svg text { font-size: 15px; }
  .dense { display: none; }
}
@media print { .chart.time svg text { font-size: 8px; } }
)";

constexpr const char* kTimeScript = R"(
for (const chart of document.querySelectorAll('.time')) {
  makeTips(chart, [...chart.querySelectorAll('[data-tip]')], () => true);
}
)";

}  // namespace

std::string ToHtml(const TimeChart& chart, const TimeAxis& axis) {
  Plot plot(axis, chart.y_label, kPlotHeight);
  double most = 0;
  for (const TimeSpan& span : chart.spans) most = std::max(most, span.value);
  if (most <= 0) most = 1;
  const auto y = [&](double value) { return kTop + kPlotHeight * (1 - value / (1.05 * most)); };
  const double step = TickStep(1.05 * most);
  for (int i = 0; i * step <= 1.05 * most; ++i) {
    plot.Add(SvgLine(kLeft, y(i * step), kLeft + kPlotWidth, y(i * step), "grid"));
    plot.Add(SvgText(kLeft - 5, y(i * step) + 3, "end", fmt::format("{:g}", i * step)));
  }
  for (const TimeSpan& span : Drawn(chart.spans, plot)) {
    const double width = plot.X(span.end) - plot.X(span.begin);
    plot.AddRect(plot.X(span.begin), y(span.value), width, plot.bottom() - y(span.value),
                 fmt::format("class=\"span\" data-tip=\"span\" fill=\"{}\"", SeriesColour(0)),
                 span.title);
  }
  return plot.Html();
}

std::string ToHtml(const TimeBands& chart, const TimeAxis& axis) {
  const int row_height = RowHeight(chart.rows);
  Plot plot(axis, chart.y_label, row_height * chart.rows);
  const int labelled = (chart.rows - 1) / kLabelledRows + 1;
  for (int row = 0; row < chart.rows; row += labelled) {
    plot.Add(SvgText(kLeft - 5, kTop + row_height * (row + 0.5) + 3, "end", std::to_string(row)));
  }
  int most = 1;
  for (const TimeBand& band : chart.bands) most = std::max(most, band.value);
  const char* number = chart.rows > kLabelledRows ? "dense number" : "number";
  for (const TimeBand& band : chart.bands) {
    const double x = plot.X(band.begin), width = plot.X(band.end) - x;
    const double y = kTop + row_height * band.row;
    const double opacity = kFaintest + (kDarkest - kFaintest) * band.value / most;
    plot.AddRect(x, y, width, row_height,
                 fmt::format("class=\"band\" data-tip=\"area\" data-row=\"{}\" fill=\"{}\" "
                             "fill-opacity=\"{:.2f}\"",
                             band.row, SeriesColour(0), opacity),
                 band.title);
    if (width < kWidestNumber) continue;
    plot.AddAbove(
        fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
                    "dominant-baseline=\"central\">{}</text>\n",
                    number, x + width / 2, y + row_height / 2.0, band.value));
  }
  return plot.Html();
}

std::string LegendOf(const TimeAxis& axis) {
  std::string html;
  for (int kind = 0; kind < static_cast<int>(axis.kinds.size()); ++kind) {
    const auto count = std::count_if(axis.marks.begin(), axis.marks.end(),
                                     [&](const TimeMark& mark) { return mark.kind == kind; });
    if (count == 0) continue;
    html += fmt::format(
        "<span data-kind=\"{}\"><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\">{}</svg>{} ({})"
        "</span>\n",
        kind, ShapeOf(axis, kind, 6, 6), EscapeXml(axis.kinds[static_cast<size_t>(kind)].name),
        count);
  }
  return html.empty() ? "" : "<p class=\"marks\">" + html + "</p>\n";
}

HtmlExtras TimeCharts() {
  const HtmlExtras tips = Tips();
  return {tips.style + kTimeStyle, tips.script + kTimeScript};
}

}  // namespace stagecraft
