// Reports what a step costs, and the score of a plan, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/problem.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// Returns gpu_hours_per_step and gpu_hours_per_billion_tokens; if the problem has prices, also
// cost_usd_per_step and cost_usd_per_billion_tokens.
nlohmann::ordered_json CostToJson(const SearchProblem& problem, const Evaluation& evaluation);
// Returns, if the problem has prices, "1.23 GPU-hours and 3.21 USD per step, 4567 USD per 10^9
// tokens"; else only the GPU-hours of both.
std::string CostText(const SearchProblem& problem, const Evaluation& evaluation);

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
