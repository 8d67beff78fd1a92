// AlgorithmComparison: how several search algorithms did on one problem, each with the same budget,
// as a table, as JSON and as an HTML page with charts.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/solution.h"

namespace stagecraft {

// The best score that a search had found when.
struct SearchCurve {
  std::string name;                // the algorithm's
  std::vector<CurvePoint> points;  // less is better; each is better than the one before
  // What the search spent in all; its best score holds until there.
  int64_t evaluations = 0;
  double seconds = 0;
};

struct ComparedAlgorithm {
  SearchCurve curve;                                       // its name, and what it found when
  double score = std::numeric_limits<double>::infinity();  // of its best plan; less is better
  bool is_feasible = true;                                 // whether its best plan fits
  bool is_proven = false;                                  // whether no plan scores less
  // Why it did not run or, if its curve has evaluations, why it has no plan; empty if it has one.
  std::string remark = "";
};

struct AlgorithmComparison {
  std::string problem;  // what was searched for, and with which budget, in one line
  std::string score_label;
  double unit = 1;        // scores are divided by it in tables and charts
  std::string score_key;  // the key of scores in JSON
  double key_unit = 1;    // scores are divided by it in JSON
  std::vector<ComparedAlgorithm> algorithms = {};
  std::optional<double> bound = std::nullopt;  // the score from which gaps are counted
  std::string bound_label = "optimum";         // what that score is
};

// Prints a table with a line for each algorithm: its best score, the gap to the bound, and what it
// spent.
void PrintComparison(const AlgorithmComparison& comparison, std::ostream& out);

// Returns {"algorithms": [{"algorithm", score_key, "gap_percent", "feasible", "optimal",
// "evaluations", "seconds", "remark"}], "curves": {name: [{"evaluations", "seconds",
// score_key}]}}; a number that does not exist is null, and an empty remark is left out.
nlohmann::ordered_json ComparisonToJson(const AlgorithmComparison& comparison);

// Returns a page with the table, and with the curves over evaluations and over seconds.
std::string ComparisonToHtml(const AlgorithmComparison& comparison, const std::string& title);

}  // namespace stagecraft
