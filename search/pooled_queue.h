// PooledQueue: the plans over pools that are not enumerated yet, the one with the least bound
// first.
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

// Decides pool after pool which stages it has, and finally the order of pools in the pipeline. What
// is decided for several plans is kept once, and a step adds at most two entries, so its memory
// grows with the steps taken, not with the number of plans.
class PooledQueue {
 public:
  // The plans must outlive it.
  explicit PooledQueue(const PooledEnumeration& plans) : plans_(plans) {}

  // Adds the families of a problem. Problem and split need not outlive the queue.
  void AddFamilies(const SearchProblem& problem, const PooledSplit& split);
  // A score below which no remaining plan lies; no value if none remains.
  std::optional<double> LeastScore() const;
  // Decides one more thing about the plans that may score least. Returns the plan about which
  // nothing is left to be decided, if there is one now. Takes microseconds. Precondition: plans
  // remain.
  std::optional<PooledPlan> Step();

 private:
  // What the first pools do.
  struct Prefix {
    size_t family = 0;
    size_t before = 0;  // the prefix with one pool less, in prefixes_
    int pools = 0;
    int choice = 0;  // of the last of these pools
    PooledSums sums;
  };
  // The plans that begin like this, from some choice of the next pool on; with all pools decided,
  // from some order of the pools on.
  struct Waiting {
    double least_score = 0;
    int pools = 0;
    size_t prefix = 0;
    int64_t next = 0;

    // The order of a heap that has the least score on top; among equal scores the entry that is
    // closest to a plan, and then the first.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.least_score != b.least_score) return a.least_score > b.least_score;
      if (a.pools != b.pools) return a.pools < b.pools;
      return a.prefix != b.prefix ? a.prefix > b.prefix : a.next > b.next;
    }
  };

  // Queues the best choice for the next pool among those after a given one, in their order.
  void PushChoice(size_t prefix);
  void PushChoice(size_t prefix, const Waiting& behind);
  void Enter(const Waiting& top);
  PooledPlan PlanOf(size_t prefix) const;  // its runs in the order of pools

  const PooledEnumeration& plans_;
  std::vector<PooledPlan> families_;
  std::vector<PooledBound> bounds_;  // by family
  std::vector<Prefix> prefixes_;
  std::priority_queue<Waiting> waiting_;
};

}  // namespace stagecraft
