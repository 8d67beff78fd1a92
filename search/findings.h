// Findings: what a search may spend, what it has spent, and what it has found so far. Every search
// of plans keeps one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "search/candidate.h"
#include "search/obstacle.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"
#include "search/stopwatch.h"

namespace stagecraft {

class Findings {
 public:
  // All arguments must outlive it.
  Findings(const SearchProblem& problem, const PlanSpace& space, const SearchOptions& options);

  PlanRanker& ranker() { return ranker_; }
  const SearchResult& result() const { return result_; }  // so far

  bool IsSpent() const;
  // Whether somebody stopped the search.
  bool IsStopped() const;
  // Whether another wave of plans may be evaluated. The first wave may whatever the budget, so that
  // there is an answer, unless somebody stopped the search.
  bool MayGoOn() const;
  // How many of `wanted` further evaluations the budget has room for.
  size_t Room(size_t wanted) const;
  void Report(int64_t left, double best, double bound) const;

  void CountEvaluation() { ++result_.evaluated; }
  // Counts a plan that fits; Keep() counts those that it is given.
  void CountFeasible() { ++result_.feasible; }
  // Notes a plan of the space that was evaluated, whether it fits or not.
  void NoteSeen(const SeenPlan& seen) { result_.seen.push_back(seen); }
  // Notes a plan that its bound rules out.
  void NoteStates(const MemoryNeed& need, size_t index);
  // Notes a plan that was evaluated and does not fit, with its choices in words.
  void NoteMisfit(const RankedPlan& ranked, const std::function<std::string()>& choices);
  // Keeps a plan that fits if it is among the best SearchOptions::top.
  void Keep(RankedPlan ranked);

  double best_score() const { return best_score_; }  // of the kept plans; infinity: none yet
  // The score that a plan must stay below to be returned.
  double WorstKept() const;
  // What was found and is proven, with an obstacle if no plan fits.
  SearchResult Finish(double bound = 0, bool is_optimal = false);
  // The same with these plans, best first, for a search that keeps its own.
  SearchResult FinishWith(std::vector<RankedPlan> plans, double bound, bool is_optimal);

 private:
  const PlanSpace& space_;
  const SearchOptions& options_;
  const Stopwatch watch_;
  PlanRanker ranker_;
  SearchResult result_;
  double best_score_ = std::numeric_limits<double>::infinity();
  Obstacle obstacle_;
};

}  // namespace stagecraft
