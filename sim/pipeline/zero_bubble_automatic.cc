#include <algorithm>
#include <optional>
#include <string>

#include "costmodel/check.h"
#include "sim/pipeline/order_memory.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"
#include "sim/pipeline/zero_bubble_rounds.h"
#include "sim/pipeline/zero_bubble_trial.h"

namespace stagecraft {
namespace {

// 1F1B in which weight gradients run right after their input gradients.
PassOrder SplitOneForwardOneBackwardOrder(int warmup, int micro_batches) {
  PassOrder split;
  split.reserve(3 * static_cast<size_t>(micro_batches));
  for (Pass pass : OneForwardOneBackwardOrder(warmup, micro_batches)) {
    if (pass.phase == Phase::kBackward) {
      pass.phase = Phase::kBackwardInput;
      split.push_back(pass);
      pass.phase = Phase::kBackwardWeight;
    }
    split.push_back(pass);
  }
  return split;
}

using Limits = std::vector<int64_t>;  // by stage

enum class Shape { kRounds, kH1, kH2, kPolicyB, kOneForwardOneBackward };

// One way to make orders.
struct Attempt {
  Shape shape = Shape::kRounds;
  RoundRules rules = {};  // for kRounds
  Limits limits = {};     // for kRounds
};

// Makes orders for `micro_batches`, and keeps the best.
class Search {
 public:
  Search(const PipelineCosts& costs, int micro_batches, std::span<const PassMemory> memory,
         std::span<const int64_t> limits, std::span<const int> windows)
      : costs_(costs),
        micro_batches_(micro_batches),
        memory_(memory),
        limits_(limits.begin(), limits.end()),
        windows_(windows),
        rounds_(costs, micro_batches, memory) {}

  void TryPublishedRules() { TryPublishedRules(limits_); }

  // Also varies the rules that the authors keep fixed: the tolerated wait, because a short wait
  // keeps the next stage fed, and the reserve, which lengthens or shortens the warm-up.
  void TryAllRules() {
    for (const bool spreads_weights : {false, true}) {
      for (const int wait : {RoundRules::kAnyWait, 0, 3, 4, 6}) {
        for (const int reserve : {0, 1, 2, 3, 4}) {
          TryRounds(limits_, wait, reserve, spreads_weights);
        }
      }
    }
  }

  // Returns whether this attempt gives better orders than all before.
  bool Try(const Attempt& attempt) {
    const std::optional<OrderScore> score =
        attempt.shape == Shape::kRounds ? ScoreRounds(attempt) : ScoreShape(attempt.shape);
    if (!score.has_value() || (best_.has_value() && *score >= *best_)) return false;
    best_ = score;
    better_.push_back(attempt);
    return true;
  }

  // Looks for orders that take the same time with less memory, by lower limits.
  void SaveMemory() {
    constexpr int kSteps = 32;  // of the memory needed now
    const int64_t peak = best_->peak_memory;
    int failing = 0;
    for (int working = kSteps; working - failing > 1;) {
      const int middle = (working + failing) / 2;
      Limits lower;
      for (const int64_t limit : limits_) lower.push_back(std::min(limit, peak) * middle / kSteps);
      (TryPublishedRules(lower) ? working : failing) = middle;
    }
  }

  // The attempts that were better than all before them.
  const std::vector<Attempt>& better() const { return better_; }
  bool MayBeSlowerThan(Duration longest_stage) const {
    return !best_.has_value() || best_->longest_stage > longest_stage;
  }

  PassOrders Best() {
    PassOrders orders;
    if (better_.back().shape != Shape::kRounds) return OrdersOf(better_.back().shape);
    rounds_.Run(better_.back().rules, better_.back().limits, Duration::Max(), &orders);
    return orders;
  }

 private:
  int Stages() const { return static_cast<int>(limits_.size()); }

  // The next two return whether they found better orders.
  bool TryPublishedRules(const Limits& limits) {
    bool is_better = false;
    for (const int wait : {RoundRules::kAnyWait, 0}) {
      is_better |= TryRounds(limits, wait, /*reserve=*/2, /*spreads_weights=*/false);
    }
    return is_better;
  }

  bool TryRounds(const Limits& limits, int tolerated_wait, int reserve, bool spreads_weights) {
    bool is_better = false;
    for (const bool delays_first_backward : {false, true}) {
      for (const bool fills_in_part : {true, false}) {
        const RoundRules rules = {delays_first_backward, fills_in_part, tolerated_wait, reserve,
                                  spreads_weights};
        is_better |= Try({Shape::kRounds, rules, limits});
      }
    }
    return is_better;
  }

  std::optional<OrderScore> ScoreRounds(const Attempt& attempt) {
    const Duration bound = best_.has_value() ? best_->longest_stage : Duration::Max();
    return rounds_.Run(attempt.rules, attempt.limits, bound);
  }

  std::optional<OrderScore> ScoreShape(Shape shape) const {
    const PassOrders orders = OrdersOf(shape);
    OrderScore score;
    for (int stage = 0; stage < Stages(); ++stage) {
      const int64_t peak = PeakMemory(orders[stage], memory_.subspan(stage, 1));
      if (peak > limits_[stage]) return std::nullopt;
      score.peak_memory = std::max(score.peak_memory, peak);
    }
    const ChunkMap map = ChunkMap::Looped(Stages(), 1);
    const OrderTimes times = TimeOrders(map, orders, micro_batches_, costs_);
    score.longest_stage = times.LongestStage();
    score.makespan = times.Makespan();
    return score;
  }

  PassOrders OrdersOf(Shape shape) const {
    PassOrders orders;
    for (int stage = 0; stage < Stages(); ++stage) orders.push_back(OrderOf(shape, stage));
    return orders;
  }

  PassOrder OrderOf(Shape shape, int stage) const {
    if (shape == Shape::kH1) return ZeroBubbleH1Order(stage, Stages(), micro_batches_);
    if (shape == Shape::kH2) return ZeroBubbleH2Order(stage, Stages(), micro_batches_);
    // Policy B is DAPPLE's longer warm-up for slow transfers.
    const int ahead = Stages() - stage;
    const int window = std::min(shape == Shape::kPolicyB ? 2 * ahead - 1 : ahead, windows_[stage]);
    return SplitOneForwardOneBackwardOrder(window - 1, micro_batches_);
  }

  const PipelineCosts& costs_;
  const int micro_batches_;
  const std::span<const PassMemory> memory_;
  const Limits limits_;
  const std::span<const int> windows_;
  ZeroBubbleRounds rounds_;
  std::optional<OrderScore> best_;
  std::vector<Attempt> better_;
};

// By stage: how many micro-batches fit into the limits of this stage and of all before it.
std::vector<int> Windows(int micro_batches, std::span<const PassMemory> memory,
                         std::span<const int64_t> limits) {
  std::vector<int> windows;
  int64_t window = micro_batches;
  for (size_t s = 0; s < limits.size(); ++s) {
    const int64_t need = std::max(memory[s].after_forward, memory[s].after_input);
    if (limits[s] < need) {
      throw InputError("zero-bubble schedule: memory limit of stage " + std::to_string(s) +
                       ": got " + std::to_string(limits[s]) + ", want at least " +
                       std::to_string(need) + ", what one micro-batch needs");
    }
    if (need > 0) window = std::min(window, limits[s] / need);
    windows.push_back(static_cast<int>(window));
  }
  return windows;
}

// A lower bound of what 1F1B with whole backwards takes on its first stage, whatever the limits:
// all passes of any one stage, and the way from the first stage to it and back.
Duration OneForwardOneBackwardBound(const PipelineCosts& costs, int micro_batches) {
  Duration bound;
  Duration way;
  for (size_t s = 0; s < costs.times.size(); ++s) {
    const PassTimes& times = costs.times[s][0];
    const Duration one = times.forward + times.Backward();
    bound = std::max(bound, way + micro_batches * one);
    way += one + 2 * costs.transfers[s];
  }
  return bound;
}

// Tries everything on the micro-batches of `search`.
void TryAll(ZeroBubbleSearch kind, Search& search) {
  if (kind == ZeroBubbleSearch::kPublished) {
    search.TryPublishedRules();
  } else {
    search.TryAllRules();
    for (const Shape shape : {Shape::kH1, Shape::kH2, Shape::kPolicyB}) search.Try({shape});
  }
  search.Try({Shape::kOneForwardOneBackward});
  if (kind == ZeroBubbleSearch::kThorough) search.SaveMemory();
}

}  // namespace

PassOrders AutomaticZeroBubbleOrders(const PipelineCosts& costs, int micro_batches,
                                     std::span<const PassMemory> memory,
                                     std::span<const int64_t> limits, ZeroBubbleSearch kind) {
  const std::vector<int> windows = Windows(micro_batches, memory, limits);
  const int trial = TrialMicroBatches(static_cast<int>(limits.size()), micro_batches);
  Search search(costs, trial, memory, limits, windows);
  TryAll(kind, search);
  if (trial == micro_batches) return search.Best();
  constexpr size_t kFinalists = 3;
  Search final(costs, micro_batches, memory, limits, windows);
  const std::vector<Attempt>& better = search.better();
  for (size_t i = 0; i < std::min(kFinalists, better.size()); ++i) {
    final.Try(better[better.size() - 1 - i]);
  }
  if (final.MayBeSlowerThan(OneForwardOneBackwardBound(costs, micro_batches))) {
    final.Try({Shape::kOneForwardOneBackward});
  }
  return final.Best();
}

}  // namespace stagecraft
