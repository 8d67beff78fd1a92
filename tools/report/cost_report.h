// What a step costs, and scores, in words and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/problem.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// gpu_hours_per_step, gpu_hours_per_billion_tokens; with prices cost_usd_per_step and
// cost_usd_per_billion_tokens too.
nlohmann::ordered_json CostToJson(const SearchProblem& problem, const Evaluation& evaluation);
// "1.23 GPU-hours and 3.21 USD per step, 4567 USD per 10^9 tokens".
std::string CostText(const SearchProblem& problem, const Evaluation& evaluation);

// A step's cost in a column of a table: USD or, without prices, GPU-hours.
std::string CostHeading(const SearchProblem& problem);
std::string CostCell(const SearchProblem& problem, const Evaluation& evaluation);

// Of a score in reports: its key, which carries the unit, and its value in that unit:
// milliseconds, device-seconds or USD, or a share.
// The same for people: "step time (ms)".
const char* ScoreLabel(const SearchProblem& problem);
const char* ScoreKey(const SearchProblem& problem);
double ShownScore(const SearchProblem& problem, double score);

}  // namespace stagecraft
