#include "sim/pipeline/zero_bubble_v_greedy.h"

#include <algorithm>

namespace stagecraft {

ZeroBubbleVGreedy::ZeroBubbleVGreedy(const PipelineCosts& costs, int micro_batches,
                                     const PassMemory& memory, int64_t limit)
    : costs_(costs), micro_batches_(micro_batches), memory_(memory), limit_(limit) {
  const size_t places = costs_.times.size() * static_cast<size_t>(micro_batches_);
  for (auto& of_phase : arrival_) {
    for (auto& of_leg : of_phase) of_leg.resize(places);
  }
}

Duration ZeroBubbleVGreedy::Result::LargestBubble() const {
  return *std::max_element(bubbles.begin(), bubbles.end());
}

std::optional<ZeroBubbleVGreedy::Result> ZeroBubbleVGreedy::Run(
    const VFillRules& rules, const std::vector<Duration>& expected) {
  rules_ = rules;
  expected_ = expected;
  expected_.resize(costs_.times.size());
  Reset();
  WarmUp();
  const size_t all = 4 * costs_.times.size() * static_cast<size_t>(micro_batches_);
  while (run_ < all) {
    const size_t before = run_;
    RunBackwards();
    RunForwards();
    if (run_ == before) return std::nullopt;
  }
  Result result;
  for (int s = 0; s < stages(); ++s) {
    while (stages_[s].weights < stages_[s].pending.size()) PutWeights(s);
    result.bubbles.push_back(stages_[s].bubble);
  }
  result.orders = std::move(orders_);
  return result;
}

void ZeroBubbleVGreedy::Reset() {
  most_expected_ = *std::max_element(expected_.begin(), expected_.end());
  largest_bubble_ = Duration();
  run_ = 0;
  const auto count = static_cast<size_t>(micro_batches_);
  orders_.assign(costs_.times.size(), {});
  stages_.resize(costs_.times.size());
  for (int s = 0; s < stages(); ++s) {
    orders_[s].reserve(6 * count);
    Stage& stage = stages_[s];
    stage.pending.clear();
    stage.pending.reserve(2 * count);
    stage.clock = stage.bubble = Duration();
    stage.held = 0;
    stage.arrived = stage.done = {};
    stage.weights = 0;
  }
  stages_[0].arrived[kForwards][0] = micro_batches_;  // all at the start
}

Duration ZeroBubbleVGreedy::Arrival(int s, Step step) const {
  const int next = stages_[s].done[step.phase][step.leg];
  if (next == stages_[s].arrived[step.phase][step.leg]) return kUnknown;
  return arrival_[step.phase][step.leg][Index(s, next)];
}

void ZeroBubbleVGreedy::HandOn(int s, Step step) {
  int to = step.leg == 0 ? s + 1 : s - 1;
  Duration arrival = stages_[s].clock;
  if (0 <= to && to < stages()) {
    arrival += costs_.Transfer(s, to);
  } else if (step == kSecondInput) {
    return;
  } else {
    // The next leg begins on this stage.
    to = s;
    step = step == kSecondForward ? kFirstInput : Step{step.phase, 1};
  }
  const int next = stages_[to].arrived[step.phase][step.leg]++;
  arrival_[step.phase][step.leg][Index(to, next)] = arrival;
}

// Runs as many forwards as fit into the time that the first micro-batch takes to the last stage and
// back.
void ZeroBubbleVGreedy::WarmUp() {
  for (int s = 0; s < stages(); ++s) Put(s, kFirstForward);
  for (int s = stages() - 1; s >= 0; --s) {
    const Duration arrival = Arrival(s, kSecondForward);
    const Stage& stage = stages_[s];
    while (s + 1 < stages() && stage.done[kForwards][0] < micro_batches_ && HasRoomUpTo(s) &&
           stage.clock + costs_.times[s][0].forward <= arrival) {
      for (int above = 0; above <= s; ++above) Put(above, kFirstForward);
    }
    Put(s, kSecondForward);
  }
  int leg = 0;
  for (int s = 1; s < stages(); ++s) CatchUp(s, leg);
}

// Each stage needs room for two chunks more than the stage after it.
bool ZeroBubbleVGreedy::HasRoomUpTo(int stage) const {
  for (int s = 0; s <= stage; ++s) {
    if (stages_[s].held + memory_.after_forward * (2 * s + 2) > limit_) return false;
  }
  return true;
}

// Runs forwards of this stage and of those after it, of the two legs in turn, until this stage has
// run as many as the one before it, and more of leg 1.
void ZeroBubbleVGreedy::CatchUp(int stage, int& leg) {
  const auto is_behind = [&] {
    const auto& own = stages_[stage].done[kForwards];
    const auto& above = stages_[stage - 1].done[kForwards];
    return own[0] + own[1] < above[0] + above[1] ||
           (own[1] <= above[1] && above[1] < micro_batches_);
  };
  for (int stuck = 0; stuck < 2 && is_behind(); leg = 1 - leg) {
    const size_t before = run_;
    for (int s = stages() - 1; s >= stage; --s) Put(s, {kForwards, leg});
    stuck = run_ == before ? stuck + 1 : 0;
  }
}

void ZeroBubbleVGreedy::RunBackwards() {
  std::vector<int> legs;
  for (int s = 0; s < stages(); ++s) legs.push_back(BackwardLeg(s));
  const auto run = [&](int s, int leg) {
    const Duration arrival = Arrival(s, {kInputs, leg});
    if (legs[s] != leg || arrival == kUnknown) return;
    MakeRoom(s, memory_.after_input - memory_.after_forward);
    FillUntil(s, arrival, leg == 1 || rules_.first_backwards);
    Put(s, {kInputs, leg});
  };
  for (int s = stages() - 1; s >= 0; --s) run(s, 1);
  for (int s = 0; s < stages(); ++s) run(s, 0);
}

void ZeroBubbleVGreedy::RunForwards() {
  for (int s = 0; s < stages(); ++s) {
    const std::optional<int> leg = ForwardLeg(s);
    if (!leg.has_value()) continue;
    MakeRoom(s, memory_.after_forward);
    if (stages_[s].held + memory_.after_forward > limit_) continue;
    FillUntil(s, Arrival(s, {kForwards, *leg}), rules_.forwards);
    Put(s, {kForwards, *leg});
  }
}

int ZeroBubbleVGreedy::BackwardLeg(int stage) const {
  const auto& inputs = stages_[stage].done[kInputs];
  if (inputs[1] >= inputs[0]) return 0;
  if (inputs[0] == micro_batches_) return 1;
  return Arrival(stage, {kInputs, 1}) != kUnknown ? 1 : 0;
}

std::optional<int> ZeroBubbleVGreedy::ForwardLeg(int stage) const {
  const auto& forwards = stages_[stage].done[kForwards];
  if (forwards[1] == micro_batches_) return std::nullopt;
  if (forwards[1] < forwards[0] && Arrival(stage, kSecondForward) != kUnknown) return 1;
  if (Arrival(stage, kFirstForward) != kUnknown) return 0;
  return std::nullopt;
}

void ZeroBubbleVGreedy::MakeRoom(int s, int64_t memory) {
  const Stage& stage = stages_[s];
  while (stage.held + memory > limit_ && stage.weights < stage.pending.size()) PutWeights(s);
}

void ZeroBubbleVGreedy::FillUntil(int s, Duration arrival, bool in_part) {
  Stage& stage = stages_[s];
  const auto next_time = [&] {
    return costs_.times[s][stage.pending[stage.weights].chunk].backward_weight;
  };
  while (stage.weights < stage.pending.size() && stage.clock + next_time() <= arrival) {
    PutWeights(s);
  }
  if (!in_part || stage.weights == stage.pending.size() || arrival <= stage.clock) return;
  const Duration allowed = std::max(largest_bubble_, most_expected_ - expected_[s]);
  if (arrival - stage.clock > allowed - stage.bubble) PutWeights(s);
}

void ZeroBubbleVGreedy::Put(int s, Step step) {
  Stage& stage = stages_[s];
  const bool is_forward = step.phase == kForwards;
  const int64_t memory =
      is_forward ? memory_.after_forward : memory_.after_input - memory_.after_forward;
  const Duration arrival = Arrival(s, step);
  if (arrival == kUnknown || stage.held + memory > limit_) return;
  stage.held += memory;
  if (arrival > stage.clock) {
    if (stage.done[kForwards][0] > 0) stage.bubble += arrival - stage.clock;
    largest_bubble_ = std::max(largest_bubble_, stage.bubble);
    stage.clock = arrival;
  }
  const int micro_batch = stage.done[step.phase][step.leg]++;
  const auto chunk = static_cast<int16_t>(is_forward ? step.leg : 1 - step.leg);
  const PassTimes& times = costs_.times[s][chunk];
  stage.clock += is_forward ? times.forward : times.backward_input;
  HandOn(s, step);
  ++run_;
  if (is_forward) {
    orders_[s].push_back({Phase::kForward, chunk, micro_batch});
  } else {
    orders_[s].push_back({Phase::kBackwardInput, chunk, micro_batch});
    stage.pending.push_back({Phase::kBackwardWeight, chunk, micro_batch});
  }
}

void ZeroBubbleVGreedy::PutWeights(int s) {
  Stage& stage = stages_[s];
  const Pass pass = stage.pending[stage.weights++];
  stage.clock += costs_.times[s][pass.chunk].backward_weight;
  stage.held -= memory_.after_input;
  orders_[s].push_back(pass);
}

}  // namespace stagecraft
