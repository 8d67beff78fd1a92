// PooledBound: what the plans of a family take at least, before all of their runs are known.
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
  double speed = 0;     // layers' time there, by time here
  double capacity = 0;  // states of blocks there, in bytes, that fit here
  double rate = 0;      // as of CostRate()

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

// Some stage takes no less than all would if layers could be divided at will: with w_k the
// time of layer k in the reference and r_s the least ratio of a layer's time on stage s to that,
// stage s takes at least r_s times the reference time of its layers, and so the slowest at least
// sum of all w_k / sum over stages of 1 / r_s. Bytes of states are bounded in the same way. Of the
// pools that are not decided yet those runs are taken that together are fastest, or hold most,
// with a number of stages that may be had.
class PooledBound {
 public:
  // `plans` and the split need not outlive it.
  PooledBound(const SearchProblem& problem, const PooledEnumeration& plans,
              const PooledSplit& split, const PooledPlan& family);

  const std::vector<PooledChoice>& ChoicesIn(int pool) const { return choices_[pool]; }
  // No plan scores less of which the stages in the first `pools` pools have these sums; infinity
  // where there is none whose blocks' states fit.
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
  double states_ = 0;                               // bytes of all blocks in the reference
  std::vector<std::vector<PooledChoice>> choices_;  // by pool
  // The best that the pools from a given one on can add, by the number of stages before them, at
  // the index At(); negative if they cannot make up any number of stages.
  std::vector<double> fastest_, roomiest_;  // At()
  std::vector<double> cheapest_;            // rate / speed, by pool
};

}  // namespace stagecraft
