// Scatters and bars as SVG text for an HTML page (html_page.h).
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  int series = 0;
  std::string title;  // shown where the pointer rests
};
// Both axes logarithmic, of one range and in microseconds; with a diagonal.
struct Scatter {
  std::string x_label, y_label;
  std::vector<std::string> series;
  std::vector<ScatterPoint> points;  // those not above 0 are left out
};
std::string ToSvg(const Scatter& chart);

// Bars side by side, from 0; a bar that would be out of sight is cut and says its
// value.
struct BarChart {
  std::string y_label;
  std::vector<std::string> groups;
  std::vector<std::string> series;
  std::vector<std::vector<double>> values;  // by group and series; negative: no bar
};
std::string ToSvg(const BarChart& chart);

}  // namespace stagecraft
