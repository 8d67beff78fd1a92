// PooledQueue: the plans over pools that are not enumerated yet, those with the least bound first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "search/pooled_bound.h"
#include "search/pooled_plan.h"
#include "search/pooled_split.h"
#include "search/problem.h"

namespace stagecraft {

// PooledQueue decides for one pool after another which stages it has, and finally the order of the
// pools in the pipeline. A decision that several plans share is stored once, and a step adds at
// most two entries, so its memory grows with the number of steps, not with the number of plans.
class PooledQueue {
 public:
  // The plans must outlive the queue.
  explicit PooledQueue(const PooledEnumeration& plans) : plans_(plans) {}

  // Adds the families of a problem. Problem and split need not outlive the queue.
  void AddFamilies(const SearchProblem& problem, const PooledSplit& split);
  // Returns a lower bound of the scores of the remaining plans; no value if none remains.
  std::optional<double> LeastScore() const;
  // Makes one more decision about the plans that may score least or, after many steps without a
  // plan, about those whose stages are known. Returns the plan for which that was the last
  // decision, if there is one. Takes microseconds. Precondition: plans remain.
  std::optional<PooledPlan> Step();

 private:
  // Prefix holds the decisions about the first pools.
  struct Prefix {
    size_t family = 0;
    size_t before = 0;  // index in prefixes_ of the prefix with one pool less
    int pools = 0;
    int choice = 0;  // for the last of these pools
    PooledSums sums;
  };
  // Waiting is the set of plans that begin with a prefix and have choice `next`, or one behind it
  // in the order of bounds, for the next pool or, if all pools are decided, order `next` of the
  // pools or a later one. With one decision more than there are pools, it is order `next` alone.
  struct Waiting {
    double least_score = 0;
    int pools = 0;  // how many decisions were made
    size_t prefix = 0;
    int64_t next = 0;

    // Orders a heap so that the least score is on top; among equal scores the entry with the most
    // pools decided, and then the first.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.least_score != b.least_score) return a.least_score > b.least_score;
      if (a.pools != b.pools) return a.pools < b.pools;
      return a.prefix != b.prefix ? a.prefix > b.prefix : a.next > b.next;
    }
  };

  // Queues the best choice for the next pool; the second function, the best of those that come
  // after a given one in the order of their bounds.
  void PushChoice(size_t prefix);
  void PushChoice(size_t prefix, const Waiting& behind);
  void Enter(const Waiting& top);
  // Returns the choices of a prefix that have stages, in the order of pools, and the plan of these.
  std::vector<const PooledChoice*> ChoicesOf(size_t prefix) const;
  PooledPlan PlanOf(size_t prefix) const;
  // Returns the plans that have the runs of a prefix in order `order` of the pools or a later one,
  // after queueing those with a later one.
  std::optional<PooledPlan> TakeOrder(const Waiting& top);

  const PooledEnumeration& plans_;
  std::vector<PooledPlan> families_;
  std::vector<PooledBound> bounds_;  // by family
  std::vector<Prefix> prefixes_;
  std::priority_queue<Waiting> waiting_;  // some pools are not decided
  std::priority_queue<Waiting> decided_;  // all pools are
  int steps_ = 0;                         // since the last plan
};

}  // namespace stagecraft
