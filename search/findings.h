// Findings: what a search may spend, what it has spent, and what it has found so far. Every search
// for plans has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "search/budget_watch.h"
#include "search/candidate.h"
#include "search/obstacle.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

class Findings {
 public:
  // All arguments must outlive it.
  Findings(const SearchProblem& problem, const PlanSpace& space, const SearchOptions& options);

  PlanRanker& ranker() { return ranker_; }
  const SearchResult& result() const { return result_; }  // so far
  BudgetWatch& watch() { return watch_; }

  bool IsSpent() { return watch_.IsSpent(result_.evaluated); }
  // Returns whether a stop of the search was requested (Budget::stop).
  bool IsStopped() { return watch_.IsStopped(); }
  // Returns whether another wave of plans may be evaluated. The first wave may be, whatever the
  // budget, so that there is an answer, unless the search was stopped.
  bool MayGoOn() { return !IsSpent() || (!has_looked() && !IsStopped()); }
  // Returns the same for this process alone (BudgetWatch). During a wave any thread may call it.
  bool MayGoOnHere() const;
  // Returns how many of `wanted` further evaluations the budget allows.
  size_t Room(size_t wanted) const;
  void Report(int64_t left, double best, double bound) const;

  void CountEvaluation() { ++result_.evaluated; }
  // Counts a plan of which the tensors alone do not fit, so that it is not evaluated.
  void CountMisfit() { ++misfits_; }
  // Counts a plan that fits and is not given to Keep(), which counts its plans itself.
  void CountFeasible() { ++result_.feasible; }
  // Notes a plan of the space that was evaluated, whether it fits or not.
  void NoteSeen(const SeenPlan& seen) { result_.seen.push_back(seen); }
  // Notes a plan that its memory bound rules out.
  void NoteStates(const MemoryNeed& need, size_t index);
  // Notes a plan that was evaluated and does not fit, with its choices in words.
  void NoteMisfit(const RankedPlan& ranked, const std::function<std::string()>& choices);
  // Keeps a plan that fits if it is among the best SearchOptions::top.
  void Keep(RankedPlan ranked);
  // Returns whether Keep() or, if it does not fit, NoteMisfit() would look at the plan itself and
  // not only at its evaluation.
  bool NeedsPlanOf(const RankedPlan& ranked) const;

  // The least score of the kept plans; infinity if there is none.
  double best_score() const { return best_score_; }
  // Returns the score that a plan must be below to be kept.
  double WorstKept() const;
  // Returns what was found and is proven, with an obstacle if no plan fits.
  SearchResult Finish(double bound = 0, bool is_optimal = false);
  // Does the same with the given plans, best first, for a search that keeps its plans itself.
  SearchResult FinishWith(std::vector<RankedPlan> plans, double bound, bool is_optimal);

 private:
  bool has_looked() const { return result_.evaluated + misfits_ > 0; }

  const PlanSpace& space_;
  const SearchOptions& options_;
  BudgetWatch watch_;
  PlanRanker ranker_;
  SearchResult result_;
  int64_t misfits_ = 0;
  double best_score_ = std::numeric_limits<double>::infinity();
  Obstacle obstacle_;
};

}  // namespace stagecraft
