// Sensitivity: whether the best plan stays the best if devices or links were a little faster, or
// slower.
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

// Ten per cent more and less of compute and of all links; with several nodes also of links within
// and between scale-up domains separately.
std::vector<SpeedChange> UsualChanges(const Cluster& cluster);

// What a search would answer after a change.
struct ChangedAnswer {
  SpeedChange change;
  double old_score = 0;              // of the plan that was best
  std::optional<RankedPlan> better;  // the best after the change; no value: the old one stays
  bool is_optimal = false;           // no plan of the space scores less than the better of the two
  int64_t evaluated = 0;

  // By which share of the new best score the old plan scores more.
  double Loss() const { return better ? old_score / better->score - 1 : 0; }
};

// Plans are those of the space, split as they are there. One is simulated again only if the old
// plan does not beat its bound: the largest of the space's bound and of its simulated time without
// shared interfaces, each times Speeds::LeastShare(), and of the bound with the new costs. Plans
// that did not fit still do not.
//
// `best` may lie beyond the space. `seen` are plans of the space, by SearchExhaustively(); a search
// that saw fewer only makes this slower. The objective must not be kMemory, which no speed changes.
// The budget is for all changes together; those that it does not reach are left out.
std::vector<ChangedAnswer> FindSensitivity(const SearchProblem& problem, PlanSpace& space,
                                           const RankedPlan& best, std::span<const SeenPlan> seen,
                                           const std::vector<SpeedChange>& changes,
                                           const Budget& budget);

}  // namespace stagecraft
