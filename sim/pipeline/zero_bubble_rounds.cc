#include "sim/pipeline/zero_bubble_rounds.h"

#include <algorithm>

namespace stagecraft {

ZeroBubbleRounds::ZeroBubbleRounds(const PipelineCosts& costs, int micro_batches,
                                   std::span<const PassMemory> memory)
    : costs_(costs), micro_batches_(micro_batches) {
  for (size_t s = 0; s < costs.times.size(); ++s) {
    const PassTimes& times = costs.times[s][0];
    stages_.push_back({.times = times,
                       .forward_memory = memory[s].after_forward,
                       .input_memory = memory[s].after_input - memory[s].after_forward,
                       .weight_memory = -memory[s].after_input,
                       .work = micro_batches * (times.forward + times.Backward())});
  }
  forward_end_.resize(stages_.size() * static_cast<size_t>(micro_batches));
  input_end_.resize(forward_end_.size());
}

std::optional<OrderScore> ZeroBubbleRounds::Run(const RoundRules& rules,
                                                std::span<const int64_t> limits, Duration bound,
                                                PassOrders* orders) {
  rules_ = rules;
  orders_ = orders;
  Reset(limits);
  if (!RunFirstRound()) return std::nullopt;
  for (int round = 1; round < micro_batches_; ++round) {
    if (longest_ > bound || !RunRound(round)) return std::nullopt;
  }
  if (longest_ > bound) return std::nullopt;
  Duration makespan;
  for (size_t s = 0; s < stages_.size(); ++s) {
    while (stages_[s].weights < micro_batches_) PutWeights(static_cast<int>(s));
    makespan = std::max(makespan, stages_[s].clock);
  }
  return OrderScore{longest_, peak_, makespan};
}

void ZeroBubbleRounds::Reset(std::span<const int64_t> limits) {
  longest_ = bubble_ = Duration();
  peak_ = 0;
  for (size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    // No stage ever needs more than the memory of all its micro-batches.
    const int64_t need = std::max(stage.forward_memory, -stage.weight_memory);
    stage.limit = std::min(limits[s], need * micro_batches_);
    stage.clock = stage.bubble = Duration();
    stage.held = 0;
    stage.forwards = stage.inputs = stage.weights = 0;
    longest_ = std::max(longest_, stage.work);
  }
  if (orders_ == nullptr) return;
  orders_->assign(stages_.size(), {});
  for (PassOrder& order : *orders_) order.reserve(3 * static_cast<size_t>(micro_batches_));
}

bool ZeroBubbleRounds::RunFirstRound() {
  const int stages = static_cast<int>(stages_.size());
  for (int stage = 0; stage < stages; ++stage) PutForward(stage);
  for (int s = stages - 1; s >= 0; --s) {
    const Stage& stage = stages_[s];
    const Duration arrival = InputArrival(s);
    while (s < stages - 1 && stage.forwards < micro_batches_ && HasRoomUpTo(s) &&
           (rules_.delays_first_backward ? stage.clock < arrival
                                         : stage.clock + stage.times.forward <= arrival)) {
      for (int above = 0; above <= s; ++above) {
        if (stages_[above].forwards < micro_batches_) PutForward(above);
      }
    }
    if (!RunInput(s)) return false;
  }
  return true;
}

bool ZeroBubbleRounds::HasRoomUpTo(int stage) const {
  const Stage& own = stages_[stage];
  const int64_t reserve = own.forward_memory * stage * rules_.reserve / 2;
  if (own.held + own.forward_memory + reserve > own.limit) return false;
  for (int s = 0; s < stage; ++s) {
    const Stage& above = stages_[s];
    if (above.forwards < micro_batches_ && above.held + above.forward_memory > above.limit) {
      return false;
    }
  }
  return true;
}

bool ZeroBubbleRounds::RunRound(int round) {
  const int stages = static_cast<int>(stages_.size());
  for (int s = 0; s < stages; ++s) RunForward(s, round);
  for (int s = stages - 1; s >= 0; --s) {
    if (!RunInput(s)) return false;
  }
  Stage& first = stages_[0];
  while (first.forwards == micro_batches_ && first.weights < first.inputs) PutWeights(0);
  return true;
}

void ZeroBubbleRounds::RunForward(int s, int round) {
  const Stage& stage = stages_[s];
  if (stage.forwards == micro_batches_) return;
  if (s > 0 && stage.forwards == stages_[s - 1].forwards) return;
  if (SkipsForward(s)) return;
  MakeRoomForForward(s, round);
  if (stage.held + stage.forward_memory > stage.limit) return;
  FillUntil(s, ForwardArrival(s));
  PutForward(s);
}

bool ZeroBubbleRounds::SkipsForward(int s) const {
  if (rules_.tolerated_wait == RoundRules::kAnyWait) return false;
  if (s + 1 == static_cast<int>(stages_.size())) return false;
  const Stage& stage = stages_[s];
  const Stage& next = stages_[s + 1];
  if (stage.forwards < next.forwards + 2) return false;
  const Duration end = std::max(stage.clock, ForwardArrival(s)) + stage.times.forward;
  const Duration backward_arrival =
      next.clock + next.times.forward + next.times.backward_input + costs_.Transfer(s + 1, s);
  return 4 * (end - backward_arrival) > rules_.tolerated_wait * stage.times.forward;
}

void ZeroBubbleRounds::MakeRoomForForward(int s, int round) {
  const Stage& stage = stages_[s];
  const int64_t beside_forwards =
      stage.limit - stage.forward_memory * (stage.forwards - stage.inputs + 1);
  while (rules_.spreads_weights && stage.weights < stage.inputs &&
         -stage.weight_memory * (stage.inputs - stage.weights - 1) * micro_batches_ >
             beside_forwards * round) {
    PutWeights(s);
  }
  while (stage.held + stage.forward_memory > stage.limit && stage.weights < stage.inputs) {
    PutWeights(s);
  }
}

bool ZeroBubbleRounds::RunInput(int s) {
  Stage& stage = stages_[s];
  if (stage.inputs == stage.forwards) return false;
  while (stage.held + stage.input_memory > stage.limit && stage.weights < stage.inputs) {
    PutWeights(s);
  }
  if (stage.held + stage.input_memory > stage.limit) return false;
  FillUntil(s, InputArrival(s));
  PutInput(s);
  return true;
}

void ZeroBubbleRounds::FillUntil(int s, Duration arrival) {
  Stage& stage = stages_[s];
  while (stage.weights < stage.inputs && stage.clock + stage.times.backward_weight <= arrival) {
    PutWeights(s);
  }
  if (rules_.fills_in_part && stage.weights < stage.inputs && arrival > stage.clock &&
      arrival - stage.clock > bubble_ - stage.bubble) {
    PutWeights(s);
  }
}

Duration ZeroBubbleRounds::ForwardArrival(int s) const {
  if (s == 0) return Duration();
  return forward_end_[Index(s - 1, stages_[s].forwards)] + costs_.Transfer(s - 1, s);
}

Duration ZeroBubbleRounds::InputArrival(int s) const {
  const Duration own = forward_end_[Index(s, stages_[s].inputs)];
  if (s + 1 == static_cast<int>(stages_.size())) return own;
  return std::max(own, input_end_[Index(s + 1, stages_[s].inputs)] + costs_.Transfer(s + 1, s));
}

void ZeroBubbleRounds::PutForward(int s) {
  Stage& stage = stages_[s];
  if (stage.forwards == 0) stage.clock = ForwardArrival(s);
  Advance(stage, ForwardArrival(s), stage.times.forward, stage.forward_memory);
  forward_end_[Index(s, stage.forwards)] = stage.clock;
  Record(s, Phase::kForward, stage.forwards++);
}

void ZeroBubbleRounds::PutInput(int s) {
  Stage& stage = stages_[s];
  Advance(stage, InputArrival(s), stage.times.backward_input, stage.input_memory);
  input_end_[Index(s, stage.inputs)] = stage.clock;
  Record(s, Phase::kBackwardInput, stage.inputs++);
}

void ZeroBubbleRounds::PutWeights(int s) {
  Stage& stage = stages_[s];
  Advance(stage, stage.clock, stage.times.backward_weight, stage.weight_memory);
  Record(s, Phase::kBackwardWeight, stage.weights++);
}

void ZeroBubbleRounds::Advance(Stage& stage, Duration arrival, Duration time, int64_t memory) {
  if (arrival > stage.clock) {
    stage.bubble += arrival - stage.clock;
    stage.clock = arrival;
    bubble_ = std::max(bubble_, stage.bubble);
    longest_ = std::max(longest_, stage.work + stage.bubble);
  }
  stage.clock += time;
  stage.held += memory;
  peak_ = std::max(peak_, stage.held);
}

void ZeroBubbleRounds::Record(int s, Phase phase, int micro_batch) {
  if (orders_ != nullptr) (*orders_)[s].push_back({phase, 0, micro_batch});
}

}  // namespace stagecraft
