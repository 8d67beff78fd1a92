// Whether it pays to mix kinds of device.
#pragma once

#include <optional>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Some of the cluster's kinds of device, all of them used, and no others.
struct KindsAnswer {
  std::vector<int> kinds;          // indices among Mixing::kinds, ascending
  std::optional<RankedPlan> best;  // nothing where none of their plans fits
  bool is_optimal = false;         // as SearchResult says it; also where none fits for certain
};

struct Mixing {
  // Kinds of device of the cluster, each by the first of its groups.
  std::vector<int> kinds;
  // Every choice of kinds that has plans; fewer kinds first, then by `kinds`.
  std::vector<KindsAnswer> answers;

  // A plan that was found elsewhere, if it is better than the one with its kinds.
  void Offer(const SearchProblem& problem, const RankedPlan& ranked);

  // The best of all, of those with the fewest kinds; nullptr where no plan fits.
  const KindsAnswer* Best() const;
  // Of the answers with fewer kinds than that the one to set beside it: least in step
  // time x cost where the objective is the step time, else by the score. nullptr: none.
  const KindsAnswer* Alternative(const SearchProblem& problem) const;
  // The best that uses more kinds than Best(), or nullptr.
  const KindsAnswer* WithMore() const;
};

// The best plan of each choice of kinds, as SearchExhaustively() finds it in
// MakeSpaceOfKinds(): the spaces that a search of the whole cluster joins. The budget is shared
// out: evaluations and seconds count for all together.
Mixing CompareKinds(const SearchProblem& problem, const Budget& budget);

}  // namespace stagecraft
