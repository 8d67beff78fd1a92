#include "tools/report/pareto_report.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "tools/report/plan_table.h"
#include "tools/report/search_report.h"

namespace stagecraft {

nlohmann::ordered_json ParetoToJson(const SearchProblem& problem, const CostQuestion& cost,
                                    const MemoryMargin& margin, const PlanRun& run) {
  const SearchResult& result = run.result;
  nlohmann::ordered_json json = SearchToJson(problem, cost, margin, run);
  json["objective"] = "pareto";
  nlohmann::ordered_json plans = std::move(json["plans"]);
  for (size_t i = 0; i < result.plans.size(); ++i) {
    plans[i]["memory_share"] = MemoryShare(result.plans[i].evaluation.memory);
  }
  json.erase("plans");
  json.erase("curves");
  json["pareto"] = std::move(plans);
  return json;
}

void PrintPareto(const SearchProblem& problem, const CostQuestion& cost, const MemoryMargin& margin,
                 const PlanRun& run, std::ostream& out) {
  const SearchResult& result = run.result;
  PrintSearchHead(problem, margin, run, out);
  if (result.plans.empty()) return;
  PrintPlanTable(problem, result.plans, {.cost = true, .memory_share = true, .tokens = cost.tokens},
                 out);
  if (!result.is_optimal) {
    fmt::print(out,
               "\nnot proven, as the search was cut short: others of the {} may beat these, or be "
               "missing\n",
               result.space);
    return;
  }
  const size_t count = result.plans.size();
  fmt::print(out,
             "\nproven: none of the {} beats {} in step time, cost and peak memory at once, and "
             "none is missing\n",
             result.space, count == 1 ? "this one" : fmt::format("one of these {}", count));
}

}  // namespace stagecraft
