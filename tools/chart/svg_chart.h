// Scatter and BarChart: charts as SVG text for an HTML page (html_page.h).
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  int series = 0;
  std::string title;  // shown when the pointer rests on the point
  // The row of a table that describes the point, which its mark then names as data-row
  // (row_filter.h); -1: none.
  int row = -1;
};
enum class ScatterUnit { kMicroseconds, kGib };
// Both axes are logarithmic and have the same range; a dashed line is the diagonal.
struct Scatter {
  std::string x_label, y_label;
  std::vector<std::string> series;
  std::vector<ScatterPoint> points;  // those not above 0 are left out
  ScatterUnit unit = ScatterUnit::kMicroseconds;
  double band = 0;  // 0.1: dotted lines where y is 10 % more and less than x; 0: none
  // A chart for narrow screens has no legend, and the label of the vertical axis is above it.
  bool is_narrow = false;
};
std::string ToSvg(const Scatter& chart);

// Bars side by side, starting at 0; a bar that would leave the plot is cut and labelled with its
// value.
struct BarChart {
  std::string y_label;
  std::vector<std::string> groups;
  std::vector<std::string> series;
  std::vector<std::vector<double>> values;  // by group and series; negative: no bar
};
std::string ToSvg(const BarChart& chart);

}  // namespace stagecraft
