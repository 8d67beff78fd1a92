#include "sim/network/flow_simulation.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// A flow's tag: the run, and which of its senders.
int64_t Tag(int32_t run, int32_t sender) { return (int64_t{run} << 32) | sender; }

// Returns an index of an array that is not in use; the array grows if necessary.
template <typename T>
int32_t TakePlace(std::vector<int32_t>* free, std::vector<T>* values) {
  if (free->empty()) {
    values->push_back({});
    return static_cast<int32_t>(values->size()) - 1;
  }
  const int32_t place = free->back();
  free->pop_back();
  return place;
}

}  // namespace

void FlowSimulation::Start(int32_t id, const MessagePattern& pattern,
                           std::span<const RouteId> routes, Duration time,
                           const FlowLimits& limits) {
  CHECK(routes.size() == pattern.pairs().size());
  const int32_t run = TakePlace(&free_runs_, &runs_);
  runs_[run] = {&pattern, routes, limits, pattern.messages(), id, kNone, kNone};
  ++running_;
  if (time == now()) {
    Begin(run);
  } else {
    Schedule({Cause::kPattern, run, {}}, time);
  }
}

void FlowSimulation::StartTimer(int32_t id, Duration time) {
  Schedule({Cause::kTimer, id, {}}, time);
}

void FlowSimulation::ChangeCapacity(LinkId link, Bandwidth capacity, Duration time) {
  Schedule({Cause::kCapacity, link, capacity}, time);
}

void FlowSimulation::Schedule(const Timed& timed, Duration time) {
  CHECK(time >= now());
  const int32_t place = TakePlace(&free_timed_, &timed_);
  timed_[place] = timed;
  events_.Push(time.ns(), place);
}

Duration FlowSimulation::NextTime() {
  if (!ending_.empty()) return now();
  const Duration next = network_->NextTime();
  return events_.empty() ? next : std::min(next, Duration::Nanoseconds(events_.PeekTime()));
}

// At each instant messages arrive before what was set for that time happens.
std::span<const int32_t> FlowSimulation::Advance(Duration limit) {
  CHECK(limit >= now());
  while (ending_.empty()) {
    const Duration next = NextTime();
    if (next > limit || next == Duration::Max()) {
      if (limit < Duration::Max()) network_->AdvanceTo(limit);
      break;
    }
    for (const int64_t tag : network_->AdvanceTo(next)) Arrive(tag);
    if (events_.empty() || events_.PeekTime() > next.ns()) continue;
    events_.PopAll(batch_);
    for (const Event& event : batch_) {
      free_timed_.push_back(event.task);
      Happen(timed_[event.task]);
    }
  }
  ended_.swap(ending_);
  ending_.clear();
  return ended_;
}

void FlowSimulation::Happen(const Timed& timed) {
  switch (timed.cause) {
    case Cause::kPattern:
      return Begin(timed.subject);
    case Cause::kTimer:
      return ending_.push_back(timed.subject);
    case Cause::kCapacity:
      return network_->SetCapacity(timed.subject, timed.capacity);
  }
}

void FlowSimulation::Begin(int32_t run_index) {
  Run& run = runs_[run_index];
  const int32_t senders = static_cast<int32_t>(run.pattern->senders().size());
  run.senders = sender_places_.Take(senders);
  run.counters = counter_places_.Take(run.pattern->counters());
  if (sender_places_.size() > static_cast<int32_t>(senders_.size())) {
    senders_.resize(sender_places_.size());
  }
  if (counter_places_.size() > static_cast<int32_t>(counters_.size())) {
    counters_.resize(counter_places_.size());
  }
  std::fill_n(senders_.begin() + run.senders, senders, Sender());
  std::fill_n(counters_.begin() + run.counters, run.pattern->counters(), Counter());
  for (int32_t sender = 0; sender < senders; ++sender) SendNext(run_index, sender);
  if (run.messages_left == 0) End(run_index);
}

void FlowSimulation::End(int32_t run_index) {
  const Run& run = runs_[run_index];
  sender_places_.Give(run.senders, static_cast<int32_t>(run.pattern->senders().size()));
  counter_places_.Give(run.counters, run.pattern->counters());
  free_runs_.push_back(run_index);
  ending_.push_back(run.id);
  --running_;
}

void FlowSimulation::Arrive(int64_t tag) {
  const int32_t run_index = static_cast<int32_t>(tag >> 32);
  const int32_t sender_index = static_cast<int32_t>(tag & INT32_MAX);
  ++messages_arrived_;
  Run& run = runs_[run_index];
  const MessageSender& sender = run.pattern->senders()[sender_index];
  const int32_t message = senders_[run.senders + sender_index].next++;
  if (--run.messages_left == 0) return End(run_index);
  const int32_t turn = sender.turns == 1 ? 0 : (sender.turn + message) % sender.turns;
  Counter& counter = counters_[run.counters + sender.counter + turn];
  ++counter.count;
  SendNext(run_index, sender_index);
  if (counter.count >= counter.wake) Wake(run_index, &counter);
}

void FlowSimulation::SendNext(int32_t run_index, int32_t sender_index) {
  const Run& run = runs_[run_index];
  const MessageSender& sender = run.pattern->senders()[sender_index];
  const int32_t message = senders_[run.senders + sender_index].next;
  if (message == sender.messages || MustWait(run, sender_index)) return;
  network_->Start(run.routes[sender.pair + message * sender.pair_step], sender.bytes,
                  Tag(run_index, sender_index), run.limits);
}

bool FlowSimulation::MustWait(const Run& run, int32_t sender_index) {
  Sender& sender = senders_[run.senders + sender_index];
  for (const MessageNeed& need : run.pattern->needs(run.pattern->senders()[sender_index])) {
    if (sender.next < need.from) continue;
    const int32_t wanted = need.slope * sender.next + need.offset;
    Counter& counter = counters_[run.counters + need.counter];
    if (counter.count >= wanted) continue;
    counter.wake = std::min(counter.wake, wanted);
    sender.next_waiter = counter.first_waiter;
    counter.first_waiter = sender_index;
    return true;
  }
  return false;
}

// Waiters that still have to wait add themselves again.
void FlowSimulation::Wake(int32_t run_index, Counter* counter) {
  int32_t waiter = counter->first_waiter;
  counter->first_waiter = kNone;
  counter->wake = kNever;
  while (waiter != kNone) {
    const int32_t next = senders_[runs_[run_index].senders + waiter].next_waiter;
    SendNext(run_index, waiter);
    waiter = next;
  }
}

}  // namespace stagecraft
