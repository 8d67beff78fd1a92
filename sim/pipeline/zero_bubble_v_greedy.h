// ZeroBubbleVGreedy: the greedy scheduler that ZeroBubbleVOrders() runs with one set of rules after
// another.
//
// A micro-batch passes every stage twice in its forward and twice in its backward: on leg 0 from
// the first stage to the last, on leg 1 from the last back to the first. Forwards run chunk 0 and
// then chunk 1, backwards chunk 1 and then chunk 0. After the warm-up, every round runs one
// backward and at most one forward of each stage. Weight gradients fill idle time in the order in
// which they become ready, and run at the latest when memory is needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Which waits may be filled with weight gradients that take longer than the wait. Those of
// backwards on leg 1 always may.
struct VFillRules {
  bool forwards = true;
  bool first_backwards = true;  // of leg 0
};

class ZeroBubbleVGreedy {
 public:
  // Every chunk takes `memory`, and a stage holds at most `limit`. `costs` must outlive this.
  ZeroBubbleVGreedy(const PipelineCosts& costs, int micro_batches, const PassMemory& memory,
                    int64_t limit);

  struct Result {
    PassOrders orders;
    std::vector<Duration> bubbles;  // by stage
    Duration LargestBubble() const;
  };
  // Returns nothing if stages run out of memory for passes that the others wait for. A stage may
  // idle as long as the stage that has idled most so far, or as the one that idled most in an
  // earlier run, whose bubbles are `expected` (empty: there was none).
  std::optional<Result> Run(const VFillRules& rules, const std::vector<Duration>& expected);

 private:
  static constexpr Duration kUnknown = Duration::Nanoseconds(-1);
  enum PhaseIndex { kForwards, kInputs };
  // The next pass of a phase on a leg.
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
    std::array<std::array<int, 2>, 2> arrived = {};  // by phase and leg: inputs so far
    std::array<std::array<int, 2>, 2> done = {};     // those of them that have run
    std::vector<Pass> pending;  // weight gradients, in the order of their input gradients
    size_t weights = 0;         // those of them that have run
  };

  int stages() const { return static_cast<int>(costs_.times.size()); }
  size_t Index(int stage, int micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }
  void Reset();
  // When the input of the step arrives; kUnknown if it has not arrived yet or no such pass is left.
  Duration Arrival(int stage, Step step) const;
  // Passes the output of the step, which has just run, to the pass that waits for it.
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
  // Does nothing if the pass cannot run yet, because its input or memory is missing.
  void Put(int stage, Step step);
  void PutWeights(int stage);

  const PipelineCosts& costs_;
  const int micro_batches_;
  const PassMemory memory_;
  const int64_t limit_;
  // When inputs arrive, by phase, leg and Index(), of the passes whose inputs have arrived.
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
