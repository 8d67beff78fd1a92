// PlanTrials: what a search of plans may spend, what it has spent, and what it found. All
// algorithms spend from one of these, so that they can be compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "search/candidate.h"
#include "search/obstacle.h"
#include "search/plan_space.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

class PlanTrials {
 public:
  // Both outlive it.
  PlanTrials(const SearchProblem& problem, const SearchOptions& options);

  const Budget& budget() const { return options_.budget; }
  bool IsSpent() const;
  // 0 at the start, 1 where the evaluations or the seconds are used up.
  double share_spent() const;

  // Simulates what was not seen before, side by side, an evaluation each. Infinity where
  // there is no such plan, which costs nothing, or no budget; far beyond any plan that
  // fits where memory does not suffice, the more the worse. The same at any number of
  // threads.
  std::vector<double> Score(const std::vector<PlanDraft>& drafts);
  double Score(const PlanDraft& draft) { return Score(std::vector{draft})[0]; }

  int64_t evaluations() const { return result_.evaluated; }
  double best_score() const { return best_score_; }  // of those that fit; infinity: none yet
  const PlanDraft& best() const { return best_; }    // where one fits
  // Plans, curve and counts so far, of a search that began in `space`.
  SearchResult Finish(const PlanSpace& space);

 private:
  std::optional<RankedPlan> Try(const PlanDraft& draft);
  double Keep(const PlanDraft& draft, std::optional<RankedPlan> tried);
  double Seconds() const;

  const SearchProblem& problem_;
  const SearchOptions& options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::map<PlanDraft, double> seen_;
  SearchResult result_;
  PlanDraft best_;
  double best_score_ = std::numeric_limits<double>::infinity();
  Obstacle obstacle_;
  PlanRanker ranker_;
};

}  // namespace stagecraft
