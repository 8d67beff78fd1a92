// ZeroBubbleVGreedy: the greedy scheduler under ZeroBubbleVOrders, by one set of rules
// at a time.
//
// A micro-batch passes every stage twice on its way forward and twice on its way back:
// leg 0 from the first stage to the last, leg 1 home again; forwards run chunk 0 and
// then chunk 1, backwards chunk 1 and then chunk 0. After the warm-up every round runs
// one backward and at most one forward of each stage; weight gradients fill the
// waiting, first come, first served, and run at the latest when memory is needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Which waits may be filled with weight gradients longer than the wait; those of leg 1
// backwards always are.
struct VFillRules {
  bool forwards = true;
  bool first_backwards = true;  // of leg 0
};

class ZeroBubbleVGreedy {
 public:
  // Chunks of one `memory` each; a stage holds at most `limit`. `costs` must outlive this.
  ZeroBubbleVGreedy(const PipelineCosts& costs, int micro_batches, const PassMemory& memory,
                    int64_t limit);

  struct Result {
    PassOrders orders;
    std::vector<Duration> bubbles;  // by stage
    Duration LargestBubble() const;
  };
  // Nothing where the stages end up without memory for what the others wait for. A stage
  // may idle as long as the idlest has so far, or as the idlest did in an earlier run,
  // whose bubbles are `expected`; empty: none.
  std::optional<Result> Run(const VFillRules& rules, const std::vector<Duration>& expected);

 private:
  static constexpr Duration kUnknown = Duration::Nanoseconds(-1);
  enum PhaseIndex { kForwards, kInputs };
  // The next pass of its kind.
  struct Step {
    PhaseIndex phase;
    int leg;
    friend bool operator==(const Step&, const Step&) = default;
  };
  static constexpr Step kFirstForward = {kForwards, 0};
  static constexpr Step kSecondForward = {kForwards, 1};
  static constexpr Step kFirstInput = {kInputs, 0};
  static constexpr Step kSecondInput = {kInputs, 1};

  struct Stage {
    Duration clock;
    Duration bubble;  // since its first start
    int64_t held = 0;
    std::array<std::array<int, 2>, 2> arrived = {};  // by phase and leg: that can run
    std::array<std::array<int, 2>, 2> done = {};     // of these, that have run
    std::vector<Pass> pending;                       // weight gradients, as their inputs ran
    size_t weights = 0;                              // of these, that have run
  };

  int stages() const { return static_cast<int>(costs_.times.size()); }
  size_t Index(int stage, int micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }
  void Reset();
  // When what the step waits for is there; kUnknown also where no such pass is left.
  Duration Arrival(int stage, Step step) const;
  // Tells who waits for the step, which has just run.
  void HandOn(int stage, Step step);
  void WarmUp();
  bool HasRoomUpTo(int stage) const;
  void CatchUp(int stage, int& leg);
  void RunBackwards();
  void RunForwards();
  int BackwardLeg(int stage) const;
  std::optional<int> ForwardLeg(int stage) const;
  void MakeRoom(int stage, int64_t memory);
  void FillUntil(int stage, Duration arrival, bool in_part);
  // Nothing happens where the pass cannot run yet, for what it waits for or for memory.
  void Put(int stage, Step step);
  void PutWeights(int stage);

  const PipelineCosts& costs_;
  const int micro_batches_;
  const PassMemory memory_;
  const int64_t limit_;
  // By phase, leg and Index(), of those that arrived.
  std::array<std::array<std::vector<Duration>, 2>, 2> arrival_;
  std::vector<Stage> stages_;
  std::vector<Duration> expected_;  // by stage
  Duration most_expected_;
  Duration largest_bubble_;  // so far
  VFillRules rules_;
  PassOrders orders_;
  size_t run_ = 0;  // forwards and inputs so far
};

}  // namespace stagecraft
