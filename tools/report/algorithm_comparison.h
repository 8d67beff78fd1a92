// AlgorithmComparison: search algorithms beside each other on one problem, each
// with the same budget; as a table, as JSON and as a page with pictures.
#pragma once

#include <iosfwd>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/chart/curve_chart.h"

namespace stagecraft {

struct ComparedAlgorithm {
  SearchCurve curve;                                       // its name, what it found when
  double score = std::numeric_limits<double>::infinity();  // of its best; least is best
  bool is_feasible = true;                                 // the best is a plan that fits
  bool is_proven = false;                                  // no plan scores less
  std::string remark = "";                                 // why it did not run
};

struct AlgorithmComparison {
  std::string problem;  // what was asked and with which budget, one line
  std::string score_label;
  double unit = 1;        // scores are shown divided by it
  std::string score_key;  // of JSON
  double key_unit = 1;    // and written divided by it
  std::vector<ComparedAlgorithm> algorithms = {};
  std::optional<double> bound = std::nullopt;  // proven: no plan scores less
  std::string bound_label = "optimum";
};

// One line for each algorithm: best, gap to the bound, what was spent.
void PrintComparison(const AlgorithmComparison& comparison, std::ostream& out);

// {"algorithms": [{"algorithm", score_key, "gap_percent", "feasible", "optimal",
// "evaluations", "seconds", "remark"}], "curves": {name: [{"evaluations",
// "seconds", score_key}]}}; null where there is no number.
nlohmann::ordered_json ComparisonToJson(const AlgorithmComparison& comparison);

// The table, and the curves over evaluations and over seconds.
std::string ComparisonToHtml(const AlgorithmComparison& comparison, const std::string& title);

}  // namespace stagecraft
