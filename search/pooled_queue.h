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

// Decides pool after pool what stages it has, and in the end the order of pools in the pipeline.
// What is decided of several plans is kept once, and a step adds at most two entries, so that
// its memory grows with the steps taken, not with the plans there are.
class PooledQueue {
 public:
  // The plans outlive it.
  explicit PooledQueue(const PooledEnumeration& plans) : plans_(plans) {}

  // Adds the families of a problem. Problem and split need not outlive the queue.
  void AddFamilies(const SearchProblem& problem, const PooledSplit& split);
  // No plan that is left scores less; nothing where none is left.
  std::optional<double> LeastScore() const;
  // Decides one thing more of what may score least. Returns the plan of which nothing is left to
  // decide, if it is one. Takes microseconds. There must be a rest.
  std::optional<PooledPlan> Step();

 private:
  // What the first pools do.
  struct Prefix {
    size_t family = 0;
    size_t before = 0;  // with one pool less, in prefixes_
    int pools = 0;
    int choice = 0;  // of the last of them
    PooledSums sums;
  };
  // The plans that begin so, from some choice of the next pool on; with all pools decided,
  // from some order of the pools on.
  struct Waiting {
    double least_score = 0;
    int pools = 0;
    size_t prefix = 0;
    int64_t next = 0;

    // The order of a heap that has the least score on top; between equal scores the entry that is
    // closest to a plan, and then the first.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.least_score != b.least_score) return a.least_score > b.least_score;
      if (a.pools != b.pools) return a.pools < b.pools;
      return a.prefix != b.prefix ? a.prefix > b.prefix : a.next > b.next;
    }
  };

  // Queues the best choice of the next pool; of those behind one in their order.
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
