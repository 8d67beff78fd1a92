// Prints plans that a search found as a table, one line for each.
#pragma once

#include <iosfwd>
#include <span>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// The columns that a table has only if they are asked for.
struct PlanColumns {
  bool cost = false;          // what a step costs: CostHeading()
  bool memory_share = false;  // the share of its memory that the fullest device uses
  double tokens = 0;          // > 0: the days that a run of this many tokens takes
};

void PrintPlanTable(const SearchProblem& problem, std::span<const RankedPlan> plans,
                    const PlanColumns& columns, std::ostream& out);

}  // namespace stagecraft
