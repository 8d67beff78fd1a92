// Sensitivity: whether the best plan would still be the best if devices or links were a little
// faster or slower.
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

// Returns compute and all links 10 % faster and slower; with several nodes also the links within
// and those between scale-up domains separately.
std::vector<SpeedChange> UsualChanges(const Cluster& cluster);

// The answer that a search would give after a change.
struct ChangedAnswer {
  SpeedChange change;
  double old_score = 0;              // of the plan that was best, after the change
  std::optional<RankedPlan> better;  // the best after the change; no value: the old one stays
  bool is_optimal = false;           // no plan of the space scores less than the better of the two
  int64_t evaluated = 0;

  // Returns by what share of the new best score the old plan's score exceeds it.
  double Loss() const { return better ? old_score / better->score - 1 : 0; }
};

// Returns the answer for each change, among the plans of the space, split as they are there. A plan
// is simulated again only if the old plan does not beat its bound, which is the largest of three:
// the space's bound and the plan's simulated time without shared interfaces, each times
// Speeds::LeastShare(), and the bound with the new costs. Plans that did not fit still do not.
//
// `best` need not be a plan of the space. `seen` are the plans of the space that
// SearchExhaustively() evaluated; with fewer of them this is only slower. The objective must not be
// kMemory, because speeds do not change it. The budget is for all changes together; those that it
// does not reach are left out.
std::vector<ChangedAnswer> FindSensitivity(const SearchProblem& problem, PlanSpace& space,
                                           const RankedPlan& best, std::span<const SeenPlan> seen,
                                           const std::vector<SpeedChange>& changes,
                                           const Budget& budget);

}  // namespace stagecraft
