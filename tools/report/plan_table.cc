#include "tools/report/plan_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/step/training_cost.h"
#include "tools/report/cost_report.h"
#include "tools/report/plan_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Cells = std::vector<std::string>;

void Append(const Cells& more, Cells& cells) {
  cells.insert(cells.end(), more.begin(), more.end());
}

Cells Headings(const SearchProblem& problem, const PlanColumns& columns) {
  Cells cells = {"rank", "step ms"};
  if (columns.cost) cells.push_back(CostHeading(problem));
  if (columns.tokens > 0) cells.push_back("days");
  Append({"MFU", "peak GiB"}, cells);
  if (columns.memory_share) cells.push_back("of usable");
  Append({"tp", "cp", "ep", "pp", "vpp", "dp", "micro-batch", "schedule, recomputation, ZeRO"},
         cells);
  return cells;
}

// Schedule, recomputation and ZeRO, and what the search chose that differs from the defaults:
// "1f1b, none, 2, sp off", "interleaved, none, 1, overlap tp gather".
std::string RulesText(const Plan& plan, const Choices& choices) {
  const Stage& first = plan.stages[0];
  const bool lacks_sequence_parallel = first.tensor_parallel > 1 && !plan.sequence_parallel;
  std::string overlap;
  if (choices.chooses_tensor_overlap && plan.overlap_tensor) overlap += " tp";
  if (choices.chooses_gather_overlap && plan.overlap_param_gather) overlap += " gather";
  const bool waits = choices.chooses_send_overlap && !plan.overlap_p2p && plan.stages.size() > 1;
  return fmt::format("{}, {}, {}{}{}{}{}", Name(plan.schedule), Name(first.recompute), plan.zero,
                     lacks_sequence_parallel ? ", sp off" : "",
                     plan.rank_order == kDefaultRankOrder ? "" : ", rank order " + plan.rank_order,
                     overlap.empty() ? "" : ", overlap" + overlap, waits ? ", waits to send" : "");
}

Cells Row(const SearchProblem& problem, const PlanColumns& columns, int rank,
          const RankedPlan& ranked) {
  const Evaluation& e = ranked.evaluation;
  const Plan& plan = ranked.plan;
  const Stage& first = plan.stages[0];
  Bytes peak;
  for (const StageMemory& memory : e.memory) peak = std::max(peak, memory.Peak());
  Cells cells = {std::to_string(rank), fmt::format("{:.1f}", e.step_time.ms())};
  if (columns.cost) cells.push_back(CostCell(problem, e));
  if (columns.tokens > 0) {
    const double steps = StepsOfTokens(e, columns.tokens);
    cells.push_back(fmt::format("{:.4g}", CostOfSteps(e, problem.cluster, {}, steps).days()));
  }
  Append({fmt::format("{:.3f}", e.mfu()), fmt::format("{:.1f}", peak.gib())}, cells);
  if (columns.memory_share) cells.push_back(fmt::format("{:.1f} %", 100 * MemoryShare(e.memory)));
  for (const int degree : {first.tensor_parallel, first.context_parallel, first.expert_parallel,
                           static_cast<int>(plan.stages.size()), plan.chunk_count()}) {
    cells.push_back(std::to_string(degree));
  }
  Append({ReplicasText(plan), std::to_string(plan.micro_batch), RulesText(plan, problem.choices)},
         cells);
  return cells;
}

}  // namespace

void PrintPlanTable(const SearchProblem& problem, std::span<const RankedPlan> plans,
                    const PlanColumns& columns, std::ostream& out) {
  Cells headings = Headings(problem, columns);
  std::vector<bool> stands_left(headings.size(), false);
  stands_left.back() = true;
  TextTable table(std::move(headings), std::move(stands_left));
  int rank = 0;
  for (const RankedPlan& ranked : plans) table.Add(Row(problem, columns, ++rank, ranked));
  table.Print(out);
}

}  // namespace stagecraft
