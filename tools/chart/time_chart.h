// TimeChart and TimeBands: what a run is like from its start to its end, for an HTML page
// (html_page.h) with the extras of TimeCharts(). All charts of a page have the same axis of time
// and the same marks, which are vertical lines.
#pragma once

#include <string>
#include <vector>

#include "tools/chart/html_page.h"

namespace stagecraft {

// Something that happens at a moment.
struct TimeMark {
  double at = 0;      // in the unit of the axis
  int kind = 0;       // of TimeAxis::kinds
  std::string title;  // the tip: a line of text
};
struct TimeMarkKind {
  std::string name;
  int colour = 0;  // the argument of SeriesColour()
};
struct TimeAxis {
  std::string label;  // with the unit
  double end = 1;     // > 0; the axis begins at 0
  // Where marks would touch each other, one stands for all of them, and looks like the one whose
  // kind comes first.
  std::vector<TimeMarkKind> kinds;  // at most 7
  std::vector<TimeMark> marks;      // in order of time
};

// A value that holds from one time to another.
struct TimeSpan {
  double begin = 0, end = 0;  // in the unit of the axis
  double value = 0;           // >= 0
  std::string title;          // the tip
};
struct TimeChart {
  std::string y_label;          // with the unit
  std::vector<TimeSpan> spans;  // in order of time. Many that are too short to be told apart
                                // become one, which has the mean value.
};

// A whole number that a row has from one time to another.
struct TimeBand {
  int row = 0;                // from 0, at the top
  double begin = 0, end = 0;  // in the unit of the axis
  int value = 0;              // >= 0; the larger, the darker
  std::string title;          // the tip
};
struct TimeBands {
  std::string y_label;  // of the numbers of the rows
  int rows = 0;         // from 1 to kMostBandRows
  std::vector<TimeBand> bands;
};
inline constexpr int kMostBandRows = 32;

// Return a <div class="chart time"> with a drawing. Same input, same bytes.
std::string ToHtml(const TimeChart& chart, const TimeAxis& axis);
std::string ToHtml(const TimeBands& chart, const TimeAxis& axis);

// Returns the shape, the name and the number of marks of each kind that there are; "" if there are
// no marks.
std::string LegendOf(const TimeAxis& axis);

// The styles and the script of pages with these charts.
HtmlExtras TimeCharts();

}  // namespace stagecraft
