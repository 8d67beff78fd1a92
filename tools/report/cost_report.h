// Cells of tables that say what a step costs, and the names and units of scores.
#pragma once

#include <string>

#include "search/problem.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// The heading and a cell of the column that says what a step costs: in USD or, without prices, in
// GPU-hours.
std::string CostHeading(const SearchProblem& problem);
std::string CostCell(const SearchProblem& problem, const Evaluation& evaluation);

// What scores are called in text, with their unit: "step time (ms)".
const char* ScoreLabel(const SearchProblem& problem);
// The key of scores in JSON, with their unit: "step_time_ms".
const char* ScoreKey(const SearchProblem& problem);
// A score in the unit of both: milliseconds, device-seconds, USD, or a share of memory.
double ShownScore(const SearchProblem& problem, double score);

}  // namespace stagecraft
