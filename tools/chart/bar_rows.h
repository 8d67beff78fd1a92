// BarRows: bars one below the other, each with its name and its value, for an HTML page
// (html_page.h) with the extras of TimeCharts().
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct BarRow {
  std::string name;   // at most about 15 letters fit
  double value = 0;   // a bar below 0 goes to the left
  std::string title;  // the tip
};
struct BarRows {
  std::string x_label;  // with the unit
  std::vector<BarRow> rows;
};

// Returns a <div class="chart time bars"> with a drawing. Precondition: there are rows.
std::string ToHtml(const BarRows& chart);

}  // namespace stagecraft
