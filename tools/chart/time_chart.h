// TimeChart and TimeBands: what a run is like from its start to its end, as charts of chart_page.h.
// All charts of a page have the same axis of time, and the charts of values the same marks.
#pragma once

#include <string>
#include <vector>

#include "tools/chart/chart_page.h"

namespace stagecraft {

// Something that happens at a moment.
struct TimeMark {
  double at = 0;      // in the unit of the axis
  int kind = 0;       // of TimeAxis::kinds
  std::string title;  // the tip: a line of text
};
struct TimeMarkKind {
  std::string name;
  int colour = 0;  // as in ChartSeries
};
struct TimeAxis {
  std::string label;  // with the unit
  double end = 1;     // > 0; the axis begins at 0
  // Where marks would touch each other, one stands for all of them, and looks like the one whose
  // kind comes first. The legend has the number of each kind that there are.
  std::vector<TimeMarkKind> kinds;
  std::vector<TimeMark> marks;  // in order of time
};

// A value that holds from one time to another.
struct TimeSpan {
  double begin = 0, end = 0;  // in the unit of the axis
  double value = 0;           // >= 0
  std::string title;          // the tip
};
struct TimeChart {
  std::string title;
  std::string note;
  std::string y_label;          // with the unit
  std::vector<TimeSpan> spans;  // in order of time. Many that are too short to be told apart
                                // become one, which has the mean value.
};

// A whole number that a row has from one time to another.
struct TimeBand {
  int row = 0;                // from 0, at the top
  double begin = 0, end = 0;  // in the unit of the axis
  int value = 0;              // >= 0
  std::string title;          // the tip
};
struct TimeBands {
  std::string title;
  std::string note;
  std::string row_label;  // what rows are, such as "stage"
  std::string unit;       // what the numbers count, such as "layers"
  int rows = 0;           // from 1 to kMostBandRows
  std::vector<TimeBand> bands;
};
inline constexpr int kMostBandRows = 32;

// Returns the values as an area, and the marks as lines from the top to the bottom.
PointsChart ChartOf(const TimeChart& chart, const TimeAxis& axis);

// Returns a bar for each band, which has its number in it and the colour of that number.
BarsChart ChartOf(const TimeBands& chart, const TimeAxis& axis);

}  // namespace stagecraft
