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
template <typename Run>
std::vector<Run> Ordered(std::vector<Run> runs, int64_t order) {
  std::vector<Run> ordered;
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
  if (waiting_.empty() && decided_.empty()) return std::nullopt;
  const double some = waiting_.empty() ? kInfinity : waiting_.top().least_score;
  return decided_.empty() ? some : std::min(some, decided_.top().least_score);
}

// Bounds of undecided pools do not count how a pipeline fills, so there may be a great many that
// are less than those of the first plans. If there are, plans still come now and then.
std::optional<PooledPlan> PooledQueue::Step() {
  constexpr int kMostSteps = 256;
  const bool is_due =
      !decided_.empty() && (waiting_.empty() || ++steps_ > kMostSteps ||
                            decided_.top().least_score <= waiting_.top().least_score);
  std::priority_queue<Waiting>& queue = is_due ? decided_ : waiting_;
  const Waiting top = queue.top();
  queue.pop();
  if (is_due) return TakeOrder(top);
  PushChoice(top.prefix, top);
  Enter(top);
  return std::nullopt;
}

// An order whose own bound is larger waits with it.
std::optional<PooledPlan> PooledQueue::TakeOrder(const Waiting& top) {
  PooledPlan plan = PlanOf(top.prefix);
  const auto pools = static_cast<int>(plans_.pools().size());
  if (top.pools == pools) {
    if (top.next == 0 && !plans_.Has(plan)) return std::nullopt;
    if (top.next + 1 < OrdersOf(plan.runs.size())) {
      Waiting next = top;
      ++next.next;
      decided_.push(next);
    }
    const PooledBound& bound = bounds_[prefixes_[top.prefix].family];
    const double score = bound.LeastScore(Ordered(ChoicesOf(top.prefix), top.next));
    if (score > top.least_score) {
      decided_.push({score, pools + 1, top.prefix, top.next});
      return std::nullopt;
    }
  }
  plan.runs = Ordered(std::move(plan.runs), top.next);
  steps_ = 0;
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
    const double any_order =
        bounds_[prefixes_[entered].family].LeastScoreOfOrders(ChoicesOf(entered));
    decided_.push({std::max(top.least_score, any_order), prefixes_[entered].pools, entered, 0});
  }
}

std::vector<const PooledChoice*> PooledQueue::ChoicesOf(size_t prefix) const {
  std::vector<const PooledChoice*> choices;
  for (; prefixes_[prefix].pools > 0; prefix = prefixes_[prefix].before) {
    const Prefix& own = prefixes_[prefix];
    const PooledChoice& choice = bounds_[own.family].ChoicesIn(own.pools - 1)[own.choice];
    if (choice.run.stages > 0) choices.push_back(&choice);
  }
  std::reverse(choices.begin(), choices.end());
  return choices;
}

PooledPlan PooledQueue::PlanOf(size_t prefix) const {
  PooledPlan plan = families_[prefixes_[prefix].family];
  for (const PooledChoice* choice : ChoicesOf(prefix)) plan.runs.push_back(choice->run);
  return plan;
}

}  // namespace stagecraft
