#include <algorithm>
#include <optional>
#include <string>

#include "costmodel/check.h"
#include "sim/pipeline/order_memory.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"
#include "sim/pipeline/zero_bubble_rounds.h"

namespace stagecraft {
namespace {

// 1F1B with the weight gradients straight after the input gradients.
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

class Search {
  using Limits = std::vector<int64_t>;  // by stage
  struct Run {
    RoundRules rules;
    Limits limits;
  };

 public:
  Search(const PipelineCosts& costs, int micro_batches, std::span<const PassMemory> memory,
         std::span<const int64_t> limits)
      : costs_(costs),
        micro_batches_(micro_batches),
        memory_(memory),
        limits_(limits),
        rounds_(costs, micro_batches, memory) {}

  void TryPublishedRules() { TryPublishedRules({limits_.begin(), limits_.end()}); }

  // The rules that its authors fix are varied too: the waits because a little of it
  // keeps the next stage fed, the reserve to lengthen or shorten the warm-up.
  void TryAllRules() {
    const Limits limits(limits_.begin(), limits_.end());
    for (const bool spreads_weights : {false, true}) {
      for (const int wait : {RoundRules::kAnyWait, 0, 3, 4, 6}) {
        for (const int reserve : {0, 1, 2, 3, 4}) {
          TryRounds(limits, wait, reserve, spreads_weights);
        }
      }
    }
  }

  // `shape` gives the order of a stage.
  template <typename Shape>
  void TryOrders(Shape shape) {
    PipelineOrders orders;
    OrderScore score;
    for (int stage = 0; stage < Stages(); ++stage) {
      orders.push_back(shape(stage));
      const int64_t peak = PeakMemory(orders.back(), memory_.subspan(stage, 1));
      if (peak > limits_[stage]) return;
      score.peak_memory = std::max(score.peak_memory, peak);
    }
    const ChunkMap map = ChunkMap::Looped(Stages(), 1);
    const OrderTimes times = TimeOrders(map, orders, micro_batches_, costs_);
    score.longest_stage = times.LongestStage();
    score.makespan = times.Makespan();
    if (best_.has_value() && score >= *best_) return;
    best_ = score;
    best_orders_ = std::move(orders);
    best_run_.reset();
  }

  // The same time out of less memory, where lower limits allow it.
  void SaveMemory() {
    constexpr int kSteps = 32;  // of what is needed now
    const int64_t peak = best_->peak_memory;
    int failing = 0;
    for (int working = kSteps; working - failing > 1;) {
      const int middle = (working + failing) / 2;
      Limits lower;
      for (const int64_t limit : limits_) lower.push_back(std::min(limit, peak) * middle / kSteps);
      (TryPublishedRules(lower) ? working : failing) = middle;
    }
  }

  PipelineOrders Best() {
    if (best_run_.has_value()) {
      rounds_.Run(best_run_->rules, best_run_->limits, Duration::Max(), &best_orders_);
    }
    return std::move(best_orders_);
  }

 private:
  int Stages() const { return static_cast<int>(limits_.size()); }

  // The next two say whether they found better orders.
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
        const Duration bound = best_.has_value() ? best_->longest_stage : Duration::Max();
        const std::optional<OrderScore> score = rounds_.Run(rules, limits, bound);
        if (!score.has_value() || (best_.has_value() && *score >= *best_)) continue;
        best_ = score;
        best_run_ = {rules, limits};
        is_better = true;
      }
    }
    return is_better;
  }

  const PipelineCosts& costs_;
  const int micro_batches_;
  const std::span<const PassMemory> memory_;
  const std::span<const int64_t> limits_;
  ZeroBubbleRounds rounds_;
  std::optional<OrderScore> best_;
  PipelineOrders best_orders_;
  std::optional<Run> best_run_;  // that will give best_orders_; none: they are there
};

// Micro-batches that every stage up to this one can hold, by stage.
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

}  // namespace

PipelineOrders AutomaticZeroBubbleOrders(const PipelineCosts& costs, int micro_batches,
                                         std::span<const PassMemory> memory,
                                         std::span<const int64_t> limits, ZeroBubbleSearch kind) {
  const std::vector<int> windows = Windows(micro_batches, memory, limits);
  const int stages = static_cast<int>(limits.size());
  Search search(costs, micro_batches, memory, limits);
  if (kind == ZeroBubbleSearch::kPublished) {
    search.TryPublishedRules();
  } else {
    search.TryAllRules();
    search.TryOrders([&](int s) { return ZeroBubbleH1Order(s, stages, micro_batches); });
    search.TryOrders([&](int s) { return ZeroBubbleH2Order(s, stages, micro_batches); });
    search.TryOrders([&](int s) {  // warm-up for slow transfers (DAPPLE's policy B)
      const int window = std::min(2 * (stages - s) - 1, windows[s]);
      return SplitOneForwardOneBackwardOrder(window - 1, micro_batches);
    });
  }
  search.TryOrders([&](int s) {
    const int window = std::min(stages - s, windows[s]);
    return SplitOneForwardOneBackwardOrder(window - 1, micro_batches);
  });
  if (kind == ZeroBubbleSearch::kThorough) search.SaveMemory();
  return search.Best();
}

}  // namespace stagecraft
