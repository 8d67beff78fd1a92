#include "tools/pareto_report.h"

#include <fmt/ostream.h>

#include <ostream>
#include <utility>

#include "tools/plan_table.h"
#include "tools/search_report.h"

namespace stagecraft {

nlohmann::ordered_json ParetoToJson(const SearchProblem& problem, const PlanRun& run) {
  const SearchResult& result = run.result;
  nlohmann::ordered_json json = SearchToJson(problem, run);
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

void PrintPareto(const SearchProblem& problem, const PlanRun& run, std::ostream& out) {
  const SearchResult& result = run.result;
  PrintSearchHead(problem, result, run.seconds, out);
  if (result.plans.empty()) return;
  PrintPlanTable(problem, result.plans, {.cost = true, .memory_share = true}, out);
  if (!result.is_optimal) {
    fmt::print(out, "\nso far; others may beat these, or be missing\n");
    return;
  }
  fmt::print(out,
             "\nno plan beats one of these {} in step time, cost and fullest device at once, and "
             "none is missing: proven\n",
             result.plans.size());
}

}  // namespace stagecraft
