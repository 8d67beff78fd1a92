#include "tools/plan_table.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "tools/cost_report.h"
#include "tools/plan_report.h"

namespace stagecraft {

void PrintPlanTable(const SearchProblem& problem, std::span<const RankedPlan> plans,
                    const PlanColumns& columns, std::ostream& out) {
  const auto cell = [](bool is_shown, const std::string& text, int width) {
    return is_shown ? fmt::format(" {:>{}}", text, width) : std::string();
  };
  fmt::print(out, "{:>4} {:>10}{} {:>6} {:>6}{}  {:>3} {:>3} {:>3} {:>3} {:>3} {:>5} {:>5}  {}\n",
             "rank", "step ms", cell(columns.cost, CostHeading(problem), 10), "MFU", "GiB",
             cell(columns.memory_share, "full", 6), "tp", "cp", "ep", "pp", "vpp", "dp", "micro",
             "schedule, recompute, zero");
  int rank = 0;
  for (const RankedPlan& ranked : plans) {
    const Evaluation& e = ranked.evaluation;
    const Stage& first = ranked.plan.stages[0];
    Bytes peak;
    for (const StageMemory& memory : e.memory) peak = std::max(peak, memory.Peak());
    const std::string share = fmt::format("{:.1f} %", 100 * MemoryShare(e.memory));
    fmt::print(
        out,
        "{:>4} {:>10.1f}{} {:>6.3f} {:>6.1f}{}  {:>3} {:>3} {:>3} {:>3} {:>3} {:>5} {:>5}  "
        "{}, {}, {}{}{}\n",
        ++rank, e.step_time.ms(), cell(columns.cost, CostCell(problem, e), 10), e.mfu(), peak.gib(),
        cell(columns.memory_share, share, 6), first.tensor_parallel, first.context_parallel,
        first.expert_parallel, ranked.plan.stages.size(), ranked.plan.chunk_count(),
        ReplicasText(ranked.plan), ranked.plan.micro_batch, Name(ranked.plan.order),
        Name(first.recompute), ranked.plan.zero,
        first.tensor_parallel > 1 && !ranked.plan.sequence_parallel ? ", sp off" : "",
        ranked.plan.rank_order == kDefaultRankOrder ? "" : ", ranks " + ranked.plan.rank_order);
  }
}

}  // namespace stagecraft
