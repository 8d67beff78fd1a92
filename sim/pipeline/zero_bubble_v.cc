#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"
#include "sim/pipeline/zero_bubble_trial.h"
#include "sim/pipeline/zero_bubble_v_greedy.h"

namespace stagecraft {
namespace {

// One way to run the greedy scheduler.
struct Attempt {
  const PipelineCosts* assumed;
  VFillRules rules;
  std::vector<Duration> expected;  // bubbles, by stage
  Duration longest_stage;          // with the trial's micro-batches
};

class VSearch {
 public:
  VSearch(const PipelineCosts& costs, int micro_batches, const PassMemory& memory)
      : costs_(costs),
        equal_(UniformCosts(stages(), 2, {1_us, 1_us, 1_us}, Duration())),
        micro_batches_(micro_batches),
        memory_(memory) {}

  // Also tries orders made for equal times: with these no stage runs out of memory, and sometimes
  // they are better.
  PassOrders Run() {
    for (const PipelineCosts* assumed : {&costs_, &equal_}) {
      for (const bool fills_backwards : {true, false}) {
        for (const bool fills_forwards : {true, false}) {
          Try(assumed, {fills_forwards, fills_backwards});
        }
      }
    }
    const auto is_shorter = [](const Attempt& a, const Attempt& b) {
      return a.longest_stage < b.longest_stage;
    };
    std::stable_sort(attempts_.begin(), attempts_.end(), is_shorter);
    for (const Attempt& attempt : attempts_) {
      ZeroBubbleVGreedy greedy(*attempt.assumed, micro_batches_, memory_, Limit());
      auto result = greedy.Run(attempt.rules, attempt.expected);
      if (result.has_value()) return std::move(result->orders);
    }
    CHECK(false);  // with equal times a run always ends
    return {};
  }

 private:
  int stages() const { return static_cast<int>(costs_.times.size()); }
  int64_t Limit() const {
    return 2 * stages() * std::max(memory_.after_forward, memory_.after_input);
  }

  // Repeats runs that expect the bubbles of the run before, as long as that makes the largest one
  // smaller.
  void Try(const PipelineCosts* assumed, const VFillRules& rules) {
    const int trial = TrialMicroBatches(stages(), micro_batches_);
    ZeroBubbleVGreedy greedy(*assumed, trial, memory_, Limit());
    Attempt attempt = {assumed, rules, {}, {}};
    std::optional<ZeroBubbleVGreedy::Result> best = greedy.Run(rules, {});
    if (!best.has_value()) return;
    while (true) {
      std::optional<ZeroBubbleVGreedy::Result> next = greedy.Run(rules, best->bubbles);
      if (!next.has_value() || next->LargestBubble() >= best->LargestBubble()) break;
      attempt.expected = std::move(best->bubbles);
      best = std::move(next);
    }
    const ChunkMap map = ChunkMap::Wave(stages(), 2);
    attempt.longest_stage = TimeOrders(map, best->orders, trial, costs_).LongestStage();
    attempts_.push_back(std::move(attempt));
  }

  const PipelineCosts& costs_;
  const PipelineCosts equal_;
  const int micro_batches_;
  const PassMemory memory_;
  std::vector<Attempt> attempts_;
};

}  // namespace

PassOrders ZeroBubbleVOrders(const PipelineCosts& costs, int micro_batches,
                             const PassMemory& memory) {
  return VSearch(costs, micro_batches, memory).Run();
}

}  // namespace stagecraft
