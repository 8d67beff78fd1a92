// Charts of the best score that each of several searches had found so far.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stagecraft {

// A score with which the curves are compared.
struct CurveBound {
  double score = 0;  // in the unit of the curves
  std::string name;  // what it is, such as "optimum"
};

// How scores are shown.
struct CurveScore {
  std::string label = "";  // of the vertical axis, with the unit; empty: by the key of the scores
  double factor = 1;       // by which the scores of the JSON are multiplied
};

// Returns a chart over evaluations and one over time, with a line for each of "curves" that has
// points: {name: [{"evaluations", "seconds", key of the score}]}. A line goes on to what its search
// spent in all: "evaluations" and "seconds" of its entry in "algorithms" or, without such a list,
// "evaluated" and "wall_ms". Throws nlohmann::json exceptions for other JSON.
std::string CurveCharts(const nlohmann::ordered_json& answer, const CurveScore& shown = {},
                        const std::optional<CurveBound>& bound = std::nullopt);

}  // namespace stagecraft
