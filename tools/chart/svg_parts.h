// The parts of charts, as SVG text. Text and lines take their colour from the page's --ink
// (html_page.h), so that they are readable on light and on dark.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Pixels that every chart leaves around its plot.
inline constexpr int kChartLeft = 64, kChartTop = 16, kChartBottom = 48;
inline constexpr int kLegendWidth = 190;
inline constexpr int kLegendLine = 18;

// Writes & < > and quotes as entities, and bytes that XML forbids as "?".
std::string EscapeXml(const std::string& text);

// Colours that can be distinguished on white and on black; from the eleventh series on they repeat.
const char* SeriesColour(int series);

// The opening tag of a drawing of this size in pixels.
std::string SvgBegin(int width, int height);
// `anchor`: "start", "middle", "end".
std::string SvgText(double x, double y, const char* anchor, const std::string& text);
// `kind`: a class of the page, "grid" or "dashed".
std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind);
// Vertical text at the left edge.
std::string SvgYLabel(int middle, const std::string& text);
// A dot with a text that is shown when the pointer rests on it; the second and third ten series
// differ in shape.
std::string SvgMark(double x, double y, int series, const std::string& title);
std::string SvgLegend(int x, const std::vector<std::string>& names);

// A round number of which a few make up `most`, which must be above 0.
double TickStep(double most);

}  // namespace stagecraft
