// PlanTrials: what a search for plans may spend, what it has spent, and what it found. All
// algorithms count their evaluations in one of these, so that they can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "search/budget_watch.h"
#include "search/findings.h"
#include "search/plan_space.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/plan/plan.h"

namespace stagecraft {

class PlanTrials {
 public:
  // All arguments must outlive it. The search begins in `space`.
  PlanTrials(const SearchProblem& problem, const PlanSpace& space, const SearchOptions& options);

  const Budget& budget() const { return options_.budget; }
  BudgetWatch& watch() { return findings_.watch(); }
  bool IsSpent() { return findings_.IsSpent(); }

  // Returns the scores of the drafts' plans. Simulates those not seen before, side by side; each
  // counts as an evaluation. The score is infinity if there is no such plan, which costs nothing,
  // or if the budget is spent. If memory does not suffice, the score is far beyond that of any plan
  // that fits, and the greater the more memory is missing. The scores are the same with any number
  // of threads.
  std::vector<double> Score(std::vector<PlanDraft> drafts);
  // Returns whether that is the score of a plan that fits.
  static bool Fits(double score);
  double Score(const PlanDraft& draft) { return Score(std::vector{draft})[0]; }

  int64_t evaluations() const { return findings_.result().evaluated; }
  double best_score() const { return findings_.best_score(); }
  const PlanDraft& best() const { return best_; }  // valid once a plan fits
  // Returns the plans, the curve and the counts so far.
  SearchResult Finish() { return findings_.Finish(); }

 private:
  // Throws InputError if there is no such plan.
  Plan Make(const PlanDraft& draft) const;
  std::optional<RankedPlan> Try(const PlanDraft& draft);
  double Keep(const PlanDraft& draft, std::optional<RankedPlan> tried);

  const SearchOptions& options_;
  const SearchProblem& problem_;
  const PlanMaker maker_;
  Findings findings_;
  std::map<PlanDraft, double> seen_;
  PlanDraft best_;
};

}  // namespace stagecraft
