// SearchResult: what a search found; SearchOptions: what it may spend to find it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/team.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// A search ends by itself or when one of these is used up, whichever comes first, and returns the
// best plans found so far. With a limit of seconds or a stop the answer depends on the machine.
struct Budget {
  int64_t evaluations = 0;                  // 0: no limit
  double seconds = 0;                       // 0: no limit
  const std::atomic<bool>* stop = nullptr;  // set by another thread; may be null
  Team* team = nullptr;                     // the team that spends it; null: this process alone

  bool IsLate(double seconds_used) const { return seconds > 0 && seconds_used >= seconds; }
  bool IsStopped() const { return stop != nullptr && stop->load(); }
  // Returns whether it is used up, as far as this process knows.
  bool IsSpent(int64_t evaluated, double seconds_used) const {
    return (evaluations > 0 && evaluated >= evaluations) || IsLate(seconds_used) || IsStopped();
  }
  // Returns what is left of the budget after this much was used; no value if it is used up. All
  // ranks of the team must ask.
  std::optional<Budget> Left(int64_t evaluated, double seconds_used) const {
    const bool is_spent = IsSpent(evaluated, seconds_used);
    if (team == nullptr ? is_spent : AnySays(*team, is_spent)) return std::nullopt;
    return Budget{.evaluations = evaluations > 0 ? evaluations - evaluated : 0,
                  .seconds = seconds > 0 ? seconds - seconds_used : 0,
                  .stop = stop,
                  .team = team};
  }
};

// The progress of a search, to be shown to a user who waits.
struct SearchProgress {
  int64_t evaluated = 0;
  int64_t left = 0;  // plans left to be evaluated, at most this many
  double best = 0;   // best score so far; infinity before the first plan that fits
  double bound = 0;  // no plan scores less
};

struct SearchOptions {
  int top = 1;  // plans to return
  Budget budget = {};
  std::function<void(const SearchProgress&)> report = {};  // now and then, from one thread
};

struct RankedPlan {
  Plan plan;  // with the passes that it ran
  Evaluation evaluation;
  double score = 0;
};

// A point of the curve of the best score so far: here a better plan was found.
struct CurvePoint {
  int64_t evaluations = 0;  // so far, including this one
  double seconds = 0;
  double score = 0;
};

// SeenPlan is the summary of a plan that was evaluated.
struct SeenPlan {
  size_t index = 0;  // in the space
  // Whether the plan has the same memory and passes under other costs; the members below are known
  // only for such plans.
  bool is_fixed = false;
  bool fits = false;
  Duration unshared_time;  // as in Evaluation
};

struct SearchResult {
  std::vector<RankedPlan> plans;  // best first; equal scores in the order of the space
  std::string space;              // its name
  int64_t candidates = 0;         // plans of the space that were enumerated before the search ended
  // Plans that were simulated, or whose memory was estimated with fragmentation and does not fit.
  // Does not count plans that cannot fit even without it.
  int64_t evaluated = 0;
  int64_t feasible = 0;           // evaluated plans that fit
  bool is_optimal = false;        // no plan of the space scores less than the first
  // No plan of the space scores less or, if the search left the space, no plan that it could find;
  // 0 if nothing is known.
  double bound = 0;
  std::vector<CurvePoint> curve;
  std::vector<SeenPlan> seen;  // in the order in which they were evaluated
  // If no plan fits: a sentence about the memory that the plan closest to fitting lacks, or why no
  // plan can be made; empty if neither is known.
  std::string obstacle;
  // If no plan can be made from the choices: a sentence that says what is wrong with the choices
  // (refusal.h); it is then the obstacle, too.
  std::string refusal;
};

}  // namespace stagecraft
