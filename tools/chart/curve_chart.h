// CurveChart: the best score that each of several searches had found so far, over evaluations or
// time, with both axes logarithmic; as SVG for an HTML page (html_page.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/solution.h"

namespace stagecraft {

struct SearchCurve {
  std::string name;                // the algorithm's
  std::vector<CurvePoint> points;  // less is better; each is better than the one before
  // What the search spent in all; the curve goes on with its best score until there.
  int64_t evaluations = 0;
  double seconds = 0;
};

enum class CurveAxis { kEvaluations, kSeconds };

struct CurveChart {
  std::string score_label;  // with the unit that `unit` gives scores
  double unit = 1;          // scores are shown divided by it: 1e-3 shows seconds as ms
  std::vector<SearchCurve> curves = {};
  // A score to compare with, such as a proven lower bound: a dashed line with its name.
  std::optional<double> bound = std::nullopt;
  std::string bound_label = "";
};

// Returns a drawing with a polyline for each curve, which goes down in steps, and a legend. Points
// whose score is not finite and above 0 are left out. The horizontal axis covers at most five
// decades; earlier points are at its left edge. Same input, same bytes.
std::string ToSvg(const CurveChart& chart, CurveAxis axis);

}  // namespace stagecraft
