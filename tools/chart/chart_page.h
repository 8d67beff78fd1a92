// BarsChart and PointsChart: charts of an HTML page (html_page.h) with the extras of Charts(). They
// are drawn in the reader's browser by Chart.js, which is part of the page; the page loads nothing.
//
// All of them have a title, axes with units, a legend, tips beside the pointer, a button that saves
// their numbers as CSV, and colours for light and dark screens and for paper.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/chart/html_page.h"

namespace stagecraft {

struct ChartAxis {
  std::string label;  // with the unit, such as "step time (ms)"
  bool is_logarithmic = false;
  std::optional<double> min = {}, max = {};  // none: as the data need
};

enum class SeriesStyle {
  kBar,     // of bars: from a begin to an end
  kLimit,   // of bars: a line across the row at the end
  kPoints,  // the others are of points
  kLine,    // through points
  kSteps,   // goes on at each value until the next one
  kArea,    // the same, filled from 0
  kDashed,  // a thin line without points
  kDotted,
  kMark,  // something that happens: a point with a line from the top to the bottom
};

// The colour, as in ChartSeries, of what a chart is not about: limits, idle time, other points.
inline constexpr int kGreyColour = 7;

struct ChartSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::kBar;
  // An index into the page's ten colours; from the eleventh on, points have other shapes. -1: as
  // many as series stand before.
  int colour = -1;
};

struct ChartBar {
  int row = 0;
  int series = 0;
  double begin = 0, end = 0;  // in the unit of the axis
  std::string text = "";      // within the bar, if it has room
  std::string tip = "";       // lines; empty: row, series, and numbers with the unit
};

// Horizontal bars on rows.
struct BarsChart {
  std::string title;
  std::string note = "";  // a sentence or two below the title
  ChartAxis x;
  std::string row_label = "";     // what rows are, such as "stage"
  std::vector<std::string> rows;  // from the top; at most about 15 letters each
  std::vector<ChartSeries> series;
  std::vector<ChartBar> bars;
  bool is_grouped = false;  // the series of a row lie below each other
  bool are_apart = false;   // a thin gap divides bars that touch
  bool zooms = false;       // readers can choose a part of the horizontal axis
};

struct ChartPoint {
  int series = 0;
  double x = 0, y = 0;
  std::string tip = "";  // lines; empty: series, and numbers with units
  int row = -1;          // the row of a list that stands for it (row_filter.h); -1: none
};

struct PointsChart {
  std::string title;
  std::string note = "";
  ChartAxis x, y;
  std::vector<ChartSeries> series;
  std::vector<ChartPoint> points;  // those of lines in order of x. On logarithmic axes points whose
                                   // number is not above 0 are left out.
  bool is_narrow = false;          // about as wide as high
  bool zooms = false;
};

// Appends bars to `chart`, one behind the other from 0, for the values of a row by series; those
// that are not above 0 are left out.
void AddStack(BarsChart& chart, int row, const std::vector<double>& values);

// Makes both axes of a chart whose points are from `least` > 0 to `most` end about a fifth below
// and above these, and adds the diagonal, on which y equals x, and lines where y is larger and
// smaller by the share kErrorBand.
void AddDiagonal(PointsChart& chart, double least, double most);
inline constexpr double kErrorBand = 0.1;

// Return a <figure class="chart">. Text may be any UTF-8; other bytes are shown as U+FFFD. Same
// input, same bytes. Bars and points whose numbers are not finite are left out. Precondition: all
// indices are within their lists.
std::string ToHtml(const BarsChart& chart);
std::string ToHtml(const PointsChart& chart);

// The styles and the script of pages with charts, and the licence of Chart.js for the page's end.
HtmlExtras Charts();

}  // namespace stagecraft
