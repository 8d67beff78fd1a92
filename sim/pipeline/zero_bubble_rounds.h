// ZeroBubbleRounds: the greedy scheduler that AutomaticZeroBubbleOrders() runs with one set of
// rules after another.
//
// Round 0 runs forwards until the first backward arrives, from the last stage to the first. Every
// further round runs at most one forward of each stage, from the first stage to the last, then one
// backward of each, from the last to the first. Weight gradients fill idle time, and run at the
// latest when memory is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// The rules of one run. The authors of the scheduler try all settings of the first three, with
// tolerated_wait 0 or kAnyWait.
struct RoundRules {
  static constexpr int kAnyWait = -1;

  // Round 0 ends with a forward that delays the first backward, rather than with idling.
  bool delays_first_backward = false;
  // Weight gradients that do not fit into a wait run all the same if the stage would otherwise idle
  // more than the stage that has idled most.
  bool fills_in_part = true;
  // A stage that is two forwards ahead of the next one skips a forward that would delay its own
  // next backward by more than this many quarters of the forward's time.
  int tolerated_wait = kAnyWait;
  // In round 0 stage s leaves memory free for s times half this many forwards, because the stages
  // before it hold that many more.
  int reserve = 2;
  // The weight gradients that are still to run may take memory only in proportion to the rounds
  // done. Otherwise they take all of it at the start, and the last backwards come late.
  bool spreads_weights = false;
};

// How good orders are: less is better, and members count in this order.
struct OrderScore {
  Duration longest_stage;
  int64_t peak_memory = 0;  // of any stage
  Duration makespan;
  friend auto operator<=>(const OrderScore&, const OrderScore&) = default;
};

// One object can run any number of times.
class ZeroBubbleRounds {
 public:
  // `costs` has one chunk per stage and must outlive this; `memory` is by stage.
  ZeroBubbleRounds(const PipelineCosts& costs, int micro_batches,
                   std::span<const PassMemory> memory);

  // Returns nothing if a stage has no memory left for its next pass, or as soon as a stage takes
  // longer than `bound`. `limits` are by stage. Writes the orders to `orders` unless it is null.
  std::optional<OrderScore> Run(const RoundRules& rules, std::span<const int64_t> limits,
                                Duration bound, PassOrders* orders = nullptr);

 private:
  struct Stage {
    PassTimes times = {};
    int64_t forward_memory = 0;  // that a pass of this kind adds
    int64_t input_memory = 0;
    int64_t weight_memory = 0;
    Duration work = {};  // of all its passes
    // The members below are the state of the current run.
    int64_t limit = 0;
    Duration clock = {};
    Duration bubble = {};  // since its first start
    int64_t held = 0;
    int forwards = 0;
    int inputs = 0;
    int weights = 0;
  };

  void Reset(std::span<const int64_t> limits);
  bool RunFirstRound();
  bool RunRound(int round);
  void RunForward(int stage, int round);
  bool RunInput(int stage);
  bool SkipsForward(int stage) const;
  bool HasRoomUpTo(int stage) const;
  void MakeRoomForForward(int stage, int round);
  void FillUntil(int stage, Duration arrival);
  Duration ForwardArrival(int stage) const;
  Duration InputArrival(int stage) const;
  void PutForward(int stage);
  void PutInput(int stage);
  void PutWeights(int stage);
  void Advance(Stage& stage, Duration arrival, Duration time, int64_t memory);
  void Record(int stage, Phase phase, int micro_batch);
  size_t Index(int stage, int micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }

  const PipelineCosts& costs_;
  int micro_batches_;
  std::vector<Stage> stages_;
  std::vector<Duration> forward_end_;  // by Index()
  std::vector<Duration> input_end_;
  RoundRules rules_;
  Duration longest_;  // so far, of bubbles and all work
  Duration bubble_;   // the largest so far
  int64_t peak_ = 0;
  PassOrders* orders_ = nullptr;
};

}  // namespace stagecraft
