// PooledBound: lower bounds for the plans of a family before all of their runs are known.
#pragma once

#include <cstddef>
#include <vector>

#include "search/pooled_plan.h"
#include "search/pooled_split.h"
#include "search/problem.h"

namespace stagecraft {

// What stages do together, in multiples of what one pool does with one tensor degree, the
// reference.
struct PooledSums {
  int stages = 0;
  double speed = 0;     // the reference's time for layers over their time here
  double capacity = 0;  // states of layers in bytes of the reference that fit here
  double rate = 0;      // as in CostRate()

  PooledSums operator+(const PooledSums& other) const {
    return {stages + other.stages, speed + other.speed, capacity + other.capacity,
            rate + other.rate};
  }
};

// One run, or an unused pool.
struct PooledChoice {
  PoolRun run;
  PooledSums sums;
};

// Some stage takes no less than all stages would if layers could be divided at will. Let w_k be the
// time of layer k in the reference, and r_s the least ratio of a layer's time on stage s to that
// time. Stage s takes at least r_s times the reference time of its layers, and so the slowest stage
// takes at least the sum of all w_k over the sum of 1 / r_s. Bytes of states are bounded in the
// same way. For the pools that are not decided yet, the runs are taken that together are fastest,
// or hold most, among possible numbers of stages.
class PooledBound {
 public:
  // `plans` and the split need not outlive it.
  PooledBound(const SearchProblem& problem, const PooledEnumeration& plans,
              const PooledSplit& split, const PooledPlan& family);

  const std::vector<PooledChoice>& ChoicesIn(int pool) const { return choices_[pool]; }
  // A score below which no plan lies whose stages in the first `pools` pools have these sums;
  // infinity if there is no plan in which the states of the layers fit.
  double LeastScore(int pools, const PooledSums& sums) const;

 private:
  void AddChoices(const SearchProblem& problem, const PooledEnumeration& plans,
                  const PooledSplit& split, const PooledPlan& family);
  void FindBest(const SearchProblem& problem);
  size_t At(int pools, int stages) const {
    return static_cast<size_t>(pools) * (blocks_ + 1) + stages;
  }

  const Objective objective_;
  const int blocks_;
  double work_seconds_ = 0;                         // of all micro-batches in the reference
  double states_ = 0;                               // of all layers in the reference, in bytes
  std::vector<std::vector<PooledChoice>> choices_;  // by pool
  // The best that the pools from a given one on can add, by the number of stages before them, at
  // the index At(); negative if they cannot make up any number of stages.
  std::vector<double> fastest_, roomiest_;  // At()
  std::vector<double> cheapest_;            // rate / speed, by pool
};

}  // namespace stagecraft
