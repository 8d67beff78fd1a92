// What the page of `search` shows of all plans (answer_page.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Returns the plans that the JSON of `search` lists, under "plans" or "pareto".
const nlohmann::ordered_json& PlansOf(const nlohmann::ordered_json& answer);

// Returns what was searched for, a table of the plans, and charts: step time against memory and
// against cost, with the plans that no other beats in both; the parts of their steps; the best
// score over evaluations; how the best plan's step time changes with the hardware, if the search
// was asked to explain itself. Throws nlohmann::json exceptions for other JSON.
std::string SearchSections(const nlohmann::ordered_json& answer);

}  // namespace stagecraft
