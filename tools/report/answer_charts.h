// Charts and tables of what verbs answer, for their pages (answer_page.h). All take parts of the
// JSON that the verbs print and return HTML, "" if that says nothing of the kind. They throw
// nlohmann::json exceptions for JSON that no verb prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/chart/chart_page.h"

namespace stagecraft {

// Returns the stages of the plan over nodes and GPUs, as "placement" says them, and a table of the
// stages of "plan".
std::string PlanCharts(const nlohmann::ordered_json& answer);

// Adds to the chart a row for each of these "breakdown_ms" and the series of their parts, of which
// each has its own colour.
void AddBreakdowns(const std::vector<const nlohmann::ordered_json*>& breakdowns, BarsChart& chart);

// Returns what the busiest device spends the step on; from "breakdown_ms".
std::string BreakdownChart(const nlohmann::ordered_json& answer);

// Returns what the fullest device of each stage holds, and its capacity; from "memory".
std::string MemoryChart(const nlohmann::ordered_json& answer);

// Returns a table of two columns.
std::string FactTable(const std::vector<std::pair<std::string, std::string>>& facts);

// Returns the sentences of "warnings" as a list.
std::string WarningList(const nlohmann::ordered_json& answer);

// Returns what the answer says it rests on: the tool's version, the cost model, the files read with
// their hashes.
std::string Provenance(const nlohmann::ordered_json& answer);

// Returns the plan's degrees and choices in a line, as search prints them.
std::string PlanWords(const nlohmann::ordered_json& plan);

// Returns a number with a few digits, such as "107,582" or "71.304", or "-" for null.
std::string NumberText(const nlohmann::ordered_json& value);
// Returns a number with this many decimals, such as "71.30", or "-" for null.
std::string DecimalText(const nlohmann::ordered_json& value, int decimals);
// Returns a share as "41.4 %", or "-" for null.
std::string PercentText(const nlohmann::ordered_json& share);

}  // namespace stagecraft
