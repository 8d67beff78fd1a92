// Mixing: whether it pays to mix GPU types.
#pragma once

#include <optional>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// KindsAnswer is the best plan that uses all of some GPU types of the cluster, and no others.
struct KindsAnswer {
  std::vector<int> kinds;          // indices among Mixing::kinds, ascending
  std::optional<RankedPlan> best;  // no value if none of their plans fits
  bool is_optimal = false;         // as in SearchResult; also true if it is proven that none fits
};

struct Mixing {
  // The GPU types of the cluster, each as the index of the first of its node groups.
  std::vector<int> kinds;
  // Every combination of kinds that has plans; fewer kinds first, then by `kinds`.
  std::vector<KindsAnswer> answers;

  // Takes a plan that was found elsewhere if it is better than the best known plan with the same
  // kinds.
  void Offer(const SearchProblem& problem, const RankedPlan& ranked);

  // Returns the best answer of all, among equals the one with the fewest kinds; nullptr if no plan
  // fits.
  const KindsAnswer* Best() const;
  // Returns the answer with fewer kinds than Best() that is to be compared with it: if the
  // objective is the step time, the one with the least product of step time and cost, else the one
  // with the least score. nullptr if there is none.
  const KindsAnswer* Alternative(const SearchProblem& problem) const;
  // Returns the best answer that uses more kinds than Best(), or nullptr.
  const KindsAnswer* WithMore() const;
};

// Returns the best plan of each combination of kinds, as SearchExhaustively() finds it in
// MakeSpaceOfKinds(): the spaces that a search of the whole cluster joins. All these searches
// together have one budget of evaluations and seconds.
Mixing CompareKinds(const SearchProblem& problem, const Budget& budget);

}  // namespace stagecraft
