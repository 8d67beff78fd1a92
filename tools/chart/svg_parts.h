// The parts of charts, as SVG text. Text and lines have the page's colour --ink (html_page.h), so
// that they are readable on light and on dark pages.
#pragma once

#include <string>
#include <vector>

#include "tools/chart/escape.h"

namespace stagecraft {

// Sizes in pixels: what every chart leaves around its plot, and its legend.
inline constexpr int kChartLeft = 64, kChartTop = 16, kChartBottom = 48;
inline constexpr int kLegendWidth = 190;
inline constexpr int kLegendLine = 18;

// Returns a colour that can be told from the others on white and on black; from the eleventh series
// on, colours repeat.
const char* SeriesColour(int series);

// Returns the opening tag of a drawing of this size in pixels.
std::string SvgBegin(int width, int height);
// `anchor`: "start", "middle", "end".
std::string SvgText(double x, double y, const char* anchor, const std::string& text);
// `kind`: a class of the page, "grid", "dashed" or "dotted".
std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind);
// Returns vertical text at the left edge, whose middle is at this height.
std::string SvgYLabel(int middle, const std::string& text);
// Returns a mark with a title that is shown when the pointer rests on it. It is a dot for the first
// ten series; the second and the third ten have other shapes. `attributes` is markup, such as
// " data-row=\"3\"".
std::string SvgMark(double x, double y, int series, const std::string& title,
                    const std::string& attributes = "");
std::string SvgLegend(int x, const std::vector<std::string>& names);

// Returns a round number as the distance of ticks on an axis from 0 to `most`, which must be above
// 0: at most six of them fit.
double TickStep(double most);

}  // namespace stagecraft
