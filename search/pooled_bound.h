// PooledBound: lower bounds of the scores of a family's plans of which only some runs are known.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/pooled_plan.h"
#include "search/pooled_split.h"
#include "search/problem.h"

namespace stagecraft {

// PooledSums adds up what several stages can do, relative to the reference: a stage in one chosen
// pool with one chosen tensor degree.
struct PooledSums {
  int stages = 0;
  double speed = 0;     // the reference's time for a layer over its time here
  double capacity = 0;  // states that fit here, in the reference's bytes
  double rate = 0;      // USD/s or devices: CostRate()

  PooledSums operator+(const PooledSums& other) const {
    return {stages + other.stages, speed + other.speed, capacity + other.capacity,
            rate + other.rate};
  }
};

// PooledChoice is what a plan does with one pool: a run of stages, or none if the pool stays
// unused.
struct PooledChoice {
  PoolRun run;
  PooledSums sums;
};

// The slowest stage takes at least as long as every stage would if layers could be divided at will.
// Let w_k be the time of layer k in the reference, and r_s the least ratio of a layer's time on
// stage s to that time. Stage s takes at least r_s times the reference time of its layers, and so
// the slowest stage takes at least the sum of all w_k over the sum of 1 / r_s. Bytes of states are
// bounded in the same way. The pools that are not decided yet count as if they had the runs that
// together are fastest, or hold most, among possible numbers of stages.
//
// If all runs are known, so is what it takes to fill and drain the pipeline. Let u_s be the time of
// a micro-batch in stage s, and m the number of micro-batches. The step takes T >= m u_s + the sum
// of u_i of the stages i before s, and the sum of all u_s / r_s is at least the sum of all w_k. By
// the duality of linear programming, T is at least the sum of all w_k over the sum of any y_s >= 0
// for which m y_s + the sum of y_i of the stages i after s is at least 1 / r_s. From the last stage
// to the first, the least such y_s are taken. Their sum is largest, and the bound least, if faster
// stages come first.
class PooledBound {
 public:
  // `plans` and the split need not outlive it.
  PooledBound(const SearchProblem& problem, const PooledEnumeration& plans,
              const PooledSplit& split, const PooledPlan& family);

  const std::vector<PooledChoice>& ChoicesIn(int pool) const { return choices_[pool]; }
  // Returns a lower bound of the scores of plans whose stages in the first `pools` pools have these
  // sums; infinity if in none of these plans the states of the layers fit.
  double LeastScore(int pools, const PooledSums& sums) const;
  // Returns a lower bound of the score of the plan that has these runs in this order, each of which
  // has stages.
  double LeastScore(std::span<const PooledChoice* const> runs) const;
  // Returns the same for any order of the runs.
  double LeastScoreOfOrders(std::vector<const PooledChoice*> runs) const;

 private:
  void AddChoices(const SearchProblem& problem, const PooledEnumeration& plans,
                  const PooledSplit& split, const PooledPlan& family);
  void FindBest(const SearchProblem& problem);
  size_t At(int pools, int stages) const {
    return static_cast<size_t>(pools) * (blocks_ + 1) + stages;
  }

  const Objective objective_;
  const int blocks_;
  const double micro_batches_;                      // of a replica
  double work_seconds_ = 0;                         // of all micro-batches in the reference
  double states_ = 0;                               // of all layers in the reference, in bytes
  std::vector<std::vector<PooledChoice>> choices_;  // by pool
  // The most that the pools from a given one on can add to speed and capacity, by the number of
  // stages in the pools before them; negative if no allowed number of stages can be reached.
  std::vector<double> fastest_, roomiest_;  // indexed by At()
  std::vector<double> cheapest_;            // the least rate / speed of the pools from this one on
};

}  // namespace stagecraft
