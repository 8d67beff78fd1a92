// ZeroBubbleRounds: the greedy scheduler under AutomaticZeroBubbleOrders, by one set of
// rules at a time.
//
// Round 0 runs forwards until the first backward arrives, from the last stage up. Every
// further round runs at most one forward of each stage, from the first stage down, then
// one backward of each, from the last stage up. Weight gradients fill the waiting, and
// run at the latest when memory is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// How one run decides. Its authors try all settings of the first three, with
// tolerated_wait 0 or kAnyWait.
struct RoundRules {
  static constexpr int kAnyWait = -1;

  // Round 0 ends with a forward that makes the first backward wait, not with idling.
  bool delays_first_backward = false;
  // Weight gradients that do not fit a wait run all the same where the stage would
  // otherwise idle more than the idlest.
  bool fills_in_part = true;
  // A stage two forwards ahead of the next one skips a forward that would make its own
  // next backward wait longer; in quarters of that forward.
  int tolerated_wait = kAnyWait;
  // In round 0 stage s leaves memory for this many forwards, times s: its predecessors
  // hold that many more. In halves.
  int reserve = 2;
  // Weight gradients left over take memory in proportion to the rounds done, for
  // otherwise they take it all at the start, and the last backwards come late.
  bool spreads_weights = false;
};

// The less the better, in this order.
struct OrderScore {
  Duration longest_stage;
  int64_t peak_memory = 0;  // of any stage
  Duration makespan;
  friend auto operator<=>(const OrderScore&, const OrderScore&) = default;
};

// May be run again and again.
class ZeroBubbleRounds {
 public:
  // One chunk per stage; `memory` by stage. `costs` must outlive this.
  ZeroBubbleRounds(const PipelineCosts& costs, int micro_batches,
                   std::span<const PassMemory> memory);

  // Nothing where the rules end with no memory for the next pass, or as soon as a stage
  // takes longer than `bound`. `limits` are by stage. Fills `orders` where given.
  std::optional<OrderScore> Run(const RoundRules& rules, std::span<const int64_t> limits,
                                Duration bound, PassOrders* orders = nullptr);

 private:
  struct Stage {
    PassTimes times = {};
    int64_t forward_memory = 0;  // that each kind of pass adds
    int64_t input_memory = 0;
    int64_t weight_memory = 0;
    Duration work = {};  // of all its passes
    // of the run:
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
