// What a search found, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "search/solution.h"
#include "tools/report/algorithm_comparison.h"

namespace stagecraft {

// The keys of docs/json.md, search.
nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const PlanRun& run);

// What was asked and looked at and, where no plan fits, why.
void PrintSearchHead(const SearchProblem& problem, const PlanRun& run, std::ostream& out);

// The same for people: at most 110 columns wide.
void PrintSearch(const SearchProblem& problem, const PlanRun& run, std::ostream& out);

// Says, if a second run went beyond the space of the first, how many plans it evaluated and how
// much worse the best plan of that space is.
void PrintBeyond(const std::vector<PlanRun>& runs, std::ostream& out);
// {"space", "candidates", "evaluated", "optimal", score and bound} of the first.
nlohmann::ordered_json WithinToJson(const SearchProblem& problem, const SearchResult& result);

// The first of the runs whose best plan none beats; the first of all where none found one.
const PlanRun& BestRun(const std::vector<PlanRun>& runs);

// The runs beside each other; `budget` in words.
AlgorithmComparison CompareRuns(const SearchProblem& problem, const std::vector<PlanRun>& runs,
                                const std::string& budget);

}  // namespace stagecraft
