// Sensitivity: whether the best plan stays the best were devices or links a little faster,
// or slower.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/scaled_model.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

struct SpeedChange {
  std::string what;  // "compute"
  double factor = 1;
  Speeds speeds;
};

// Ten per cent more and less of compute and of all links; on several nodes of
// links within and between scale-up domains apart, too.
std::vector<SpeedChange> UsualChanges(const Cluster& cluster);

// What a search would answer then.
struct ChangedAnswer {
  SpeedChange change;
  double old_score = 0;              // of the plan that was best
  std::optional<RankedPlan> better;  // the best of all then; nothing: the old one stays
  bool is_optimal = false;           // no plan of the space scores less than the best of both
  int64_t evaluated = 0;

  // Of the new best, by which the old one scores more.
  double Loss() const { return better ? old_score / better->score - 1 : 0; }
};

// Plans are those of the space, split as they are there. One is simulated again only
// where the old one does not beat its bound: of the space's bound, of its simulated time
// without shared interfaces, each times Speeds::LeastShare(), and of the bound with the
// new costs the largest. Those that did not fit still do not.
//
// `best` may lie beyond the space. `seen`: of the space, by SearchExhaustively(); a search that
// saw less only makes this slower. The objective is not kMemory, which no speed changes. The
// budget is for all changes together; those it does not reach are left out.
std::vector<ChangedAnswer> FindSensitivity(const SearchProblem& problem, PlanSpace& space,
                                           const RankedPlan& best, std::span<const SeenPlan> seen,
                                           const std::vector<SpeedChange>& changes,
                                           const Budget& budget);

}  // namespace stagecraft
