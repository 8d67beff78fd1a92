#include "search/pooled_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the number of orders of this many runs, limited to what fits into 64 bits.
int64_t OrdersOf(size_t runs) {
  int64_t orders = 1;
  for (size_t i = 2; i <= runs; ++i) {
    const auto factor = static_cast<int64_t>(i);
    if (orders > std::numeric_limits<int64_t>::max() / factor) {
      return std::numeric_limits<int64_t>::max();
    }
    orders *= factor;
  }
  return orders;
}

// Returns the runs in one of their orders; order 0 is the given one.
std::vector<PoolRun> Ordered(std::vector<PoolRun> runs, int64_t order) {
  std::vector<PoolRun> ordered;
  while (!runs.empty()) {
    const int64_t of_others = OrdersOf(runs.size() - 1);
    const auto chosen = runs.begin() + static_cast<std::ptrdiff_t>(order / of_others);
    order %= of_others;
    ordered.push_back(*chosen);
    runs.erase(chosen);
  }
  return ordered;
}

}  // namespace

void PooledQueue::AddFamilies(const SearchProblem& problem, const PooledSplit& split) {
  for (PooledPlan& family : plans_.Families()) {
    bounds_.emplace_back(problem, plans_, split, family);
    families_.push_back(std::move(family));
    const size_t prefix = prefixes_.size();
    Prefix& none = prefixes_.emplace_back();
    none.family = families_.size() - 1;
    PushChoice(prefix);
  }
}

std::optional<double> PooledQueue::LeastScore() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.top().least_score);
}

std::optional<PooledPlan> PooledQueue::Step() {
  const Waiting top = waiting_.top();
  waiting_.pop();
  if (top.pools < static_cast<int>(plans_.pools().size())) {
    PushChoice(top.prefix, top);
    Enter(top);
    return std::nullopt;
  }
  PooledPlan plan = PlanOf(top.prefix);
  if (top.next == 0 && !plans_.Has(plan)) return std::nullopt;
  if (top.next + 1 < OrdersOf(plan.runs.size())) {
    Waiting next = top;
    ++next.next;
    waiting_.push(next);
  }
  plan.runs = Ordered(std::move(plan.runs), top.next);
  return plan;
}

void PooledQueue::PushChoice(size_t prefix) {
  PushChoice(prefix, {.least_score = -kInfinity, .pools = 0, .prefix = prefix, .next = -1});
}

void PooledQueue::PushChoice(size_t prefix, const Waiting& behind) {
  const Prefix& own = prefixes_[prefix];
  const PooledBound& bound = bounds_[own.family];
  const std::vector<PooledChoice>& choices = bound.ChoicesIn(own.pools);
  Waiting least{.least_score = kInfinity, .pools = own.pools, .prefix = prefix, .next = -1};
  for (int64_t choice = 0; choice < static_cast<int64_t>(choices.size()); ++choice) {
    const double score = bound.LeastScore(own.pools + 1, own.sums + choices[choice].sums);
    const bool is_behind =
        score != behind.least_score ? score > behind.least_score : choice > behind.next;
    if (!is_behind || score >= least.least_score) continue;
    least.least_score = score;
    least.next = choice;
  }
  if (least.next >= 0) waiting_.push(least);
}

// Adds the choice to the prefix and queues what may follow it.
void PooledQueue::Enter(const Waiting& top) {
  const Prefix& own = prefixes_[top.prefix];
  const PooledChoice& choice = bounds_[own.family].ChoicesIn(own.pools)[top.next];
  const size_t entered = prefixes_.size();
  prefixes_.push_back({.family = own.family,
                       .before = top.prefix,
                       .pools = own.pools + 1,
                       .choice = static_cast<int>(top.next),
                       .sums = own.sums + choice.sums});
  if (prefixes_[entered].pools < static_cast<int>(plans_.pools().size())) {
    PushChoice(entered);
  } else {
    waiting_.push({top.least_score, prefixes_[entered].pools, entered, 0});
  }
}

PooledPlan PooledQueue::PlanOf(size_t prefix) const {
  PooledPlan plan = families_[prefixes_[prefix].family];
  for (; prefixes_[prefix].pools > 0; prefix = prefixes_[prefix].before) {
    const Prefix& own = prefixes_[prefix];
    const PoolRun& run = bounds_[own.family].ChoicesIn(own.pools - 1)[own.choice].run;
    if (run.stages > 0) plan.runs.push_back(run);
  }
  std::reverse(plan.runs.begin(), plan.runs.end());
  return plan;
}

}  // namespace stagecraft
