// What a search found, and what it was given to find it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// A search ends by itself or when one of these is used up, whichever comes first; it
// then returns the best so far. With seconds or a stop the answer depends on the machine.
struct Budget {
  int64_t evaluations = 0;                  // 0: no limit
  double seconds = 0;                       // 0: no limit
  const std::atomic<bool>* stop = nullptr;  // set by another thread; may be null

  bool IsSpent(int64_t evaluated, double seconds_used) const {
    return (evaluations > 0 && evaluated >= evaluations) ||
           (seconds > 0 && seconds_used >= seconds) || (stop != nullptr && stop->load());
  }
  // What is left of it after so much; nothing where it is spent.
  std::optional<Budget> Left(int64_t evaluated, double seconds_used) const {
    if (IsSpent(evaluated, seconds_used)) return std::nullopt;
    return Budget{.evaluations = evaluations > 0 ? evaluations - evaluated : 0,
                  .seconds = seconds > 0 ? seconds - seconds_used : 0,
                  .stop = stop};
  }
};

// For people who wait.
struct SearchProgress {
  int64_t evaluated = 0;
  int64_t left = 0;  // candidates at most
  double best = 0;   // score; infinity before the first that fits
  double bound = 0;  // no plan scores less
};

struct SearchOptions {
  int top = 1;  // plans to return
  Budget budget = {};
  std::function<void(const SearchProgress&)> report = {};  // now and then, from one thread
};

struct RankedPlan {
  Plan plan;  // with the orders that it ran
  Evaluation evaluation;
  double score = 0;
};

// When a better plan was found.
struct CurvePoint {
  int64_t evaluations = 0;  // so far, this one too
  double seconds = 0;
  double score = 0;
};

// What is left of a plan that was evaluated.
struct SeenPlan {
  size_t index = 0;  // in the space
  // At other costs its memory and its orders are the same; what follows is said of these
  // alone.
  bool is_fixed = false;
  bool fits = false;
  Duration unshared_time;  // as of Evaluation
};

struct SearchResult {
  std::vector<RankedPlan> plans;  // best first; equal scores in the order of the space
  std::string space;              // its name
  int64_t candidates = 0;         // plans of the space that were enumerated before the search ended
  int64_t evaluated = 0;          // memory looked at, and simulated where it fits
  int64_t feasible = 0;           // of those that were evaluated
  bool is_optimal = false;        // no plan of the space scores less than the first
  double bound = 0;               // no plan of the space scores less
  std::vector<CurvePoint> curve;
  std::vector<SeenPlan> seen;  // in the order they were evaluated
  // Where no plan fits: what the nearest one lacks, a sentence.
  std::string obstacle;
  // A sentence that says what is wrong with the choices (FindRefusal()), if the space has no plan
  // at all; it is then the obstacle, too.
  std::string refusal;
};

}  // namespace stagecraft
