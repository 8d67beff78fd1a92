// Curves of searches: the best score that each search had found, over evaluations or time, both
// axes logarithmic; as SVG for an HTML page (html_page.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/solution.h"

namespace stagecraft {

struct SearchCurve {
  std::string name;                // of the algorithm
  std::vector<CurvePoint> points;  // less is better; each is better than the one before
  // What the search spent in all: the last best score holds until there.
  int64_t evaluations = 0;
  double seconds = 0;
};

enum class CurveAxis { kEvaluations, kSeconds };

struct CurveChart {
  std::string score_label;  // with the unit that `unit` gives scores
  double unit = 1;          // scores are shown divided by it: 1e-3 for seconds as ms
  std::vector<SearchCurve> curves = {};
  // A proven lower bound of every score: a dashed line with its name.
  std::optional<double> bound = std::nullopt;
  std::string bound_label = "";
};

// One polyline for each curve, going down in steps, with a legend. Points whose score is not finite
// and above 0 are left out; on an axis of more than five decades earlier points stand at its left
// edge. Same input, same bytes.
std::string ToSvg(const CurveChart& chart, CurveAxis axis);

}  // namespace stagecraft
