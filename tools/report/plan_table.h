// Plans of a search, a line each.
#pragma once

#include <iosfwd>
#include <span>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// What a table shows beside steps, memory and degrees.
struct PlanColumns {
  bool cost = false;          // CostHeading()
  bool memory_share = false;  // of the fullest device, of what it has
};

void PrintPlanTable(const SearchProblem& problem, std::span<const RankedPlan> plans,
                    const PlanColumns& columns, std::ostream& out);

}  // namespace stagecraft
