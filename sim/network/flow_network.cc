#include "sim/network/flow_network.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

LinkId FlowNetwork::AddLink(Bandwidth capacity, Duration latency) {
  CHECK(latency >= Duration());
  latencies_ns_.push_back(latency.ns());
  records_.push_back({});
  return shares_.AddLink(capacity.bytes_per_s() / kNanosecondsPerSecond);
}

RouteId FlowNetwork::AddRoute(std::span<const LinkId> links) {
  int64_t latency_ns = 0;
  for (const LinkId link : links) latency_ns += latencies_ns_[link];
  route_latencies_ns_.push_back(latency_ns);
  return shares_.AddRoute(links);
}

void FlowNetwork::Start(RouteId route, double bytes, int64_t tag, const FlowLimits& limits) {
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.push_back({});
  }
  const FlowId id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  const int64_t queued_ns = flow.queued_ns;  // of the slot, not of the flow
  flow = {};
  flow.bytes = bytes;
  flow.left = bytes;
  flow.cap = limits.cap.bytes_per_s() / kNanosecondsPerSecond;
  flow.tag = tag;
  flow.queued_ns = queued_ns;
  flow.route = route;
  SetDue(id, (now() + limits.delay + Duration::Nanoseconds(route_latencies_ns_[route])).ns());
}

void FlowNetwork::SetCapacity(LinkId link, Bandwidth capacity) {
  shares_.SetCapacity(link, capacity.bytes_per_s() / kNanosecondsPerSecond);
  is_settled_ = false;
}

Duration FlowNetwork::NextTime() {
  Settle();
  return events_.empty() ? Duration::Max() : Duration::Nanoseconds(events_.PeekTime());
}

std::span<const int64_t> FlowNetwork::AdvanceTo(Duration time) {
  const Duration next = NextTime();
  CHECK(now() <= time && time <= next);
  ended_.clear();
  now_ns_ = time.ns();
  if (time == next && !events_.empty()) Pop();
  return ended_;
}

// Handles first what ends, then what begins to send.
void FlowNetwork::Pop() {
  events_.PopAll(batch_);
  beginning_.clear();
  for (const Event& event : batch_) {
    Flow& flow = flows_[event.task];
    if (flow.queued_ns == now_ns_) flow.queued_ns = kNever;
    if (flow.due_ns != now_ns_) {  // ended before, or sends slower than when this was queued
      SetDue(event.task, flow.due_ns);
    } else if (flow.is_sending) {
      End(event.task);
    } else {
      flow.due_ns = kNever;
      beginning_.push_back(event.task);
    }
  }
  for (const FlowId flow : beginning_) Begin(flow);
  is_settled_ = false;
}

void FlowNetwork::Begin(FlowId id) {
  Flow& flow = flows_[id];
  if (flow.bytes == 0) return Release(id);
  flow.is_sending = true;
  flow.seen_ns = now_ns_;
  shares_.Join(id, flow.route, flow.cap);
}

void FlowNetwork::End(FlowId id) {
  const Flow& flow = flows_[id];
  for (const LinkId link : shares_.route(flow.route)) records_[link].use.bytes += flow.bytes;
  shares_.Leave(id);
  Release(id);
}

void FlowNetwork::Release(FlowId id) {
  flows_[id].due_ns = kNever;
  free_.push_back(id);
  ended_.push_back(flows_[id].tag);
}

void FlowNetwork::Settle() {
  if (is_settled_) return;
  is_settled_ = true;
  for (const FlowId id : shares_.Settle()) {
    Flow& flow = flows_[id];
    flow.left = flow.bytes - SentBytes(flow);
    flow.seen_ns = now_ns_;
    flow.rate = shares_.rate(id);
    // A flow that would end beyond a Duration is stalled.
    const double ns = flow.left > 0 ? flow.left / flow.rate : 0;
    SetDue(id, (now() + Duration::RoundedNanoseconds(ns)).ns());
  }
  for (const LinkId link : shares_.changed_links()) Record(link);
}

double FlowNetwork::SentBytes(const Flow& flow) const {
  if (now_ns_ == flow.seen_ns) return flow.bytes - flow.left;
  const double sent = flow.rate * static_cast<double>(now_ns_ - flow.seen_ns);
  return std::min(flow.bytes - flow.left + sent, flow.bytes);
}

// An event that is queued earlier than the due time stays, and is postponed when it comes.
void FlowNetwork::SetDue(FlowId id, int64_t due_ns) {
  Flow& flow = flows_[id];
  flow.due_ns = due_ns;
  if (due_ns >= flow.queued_ns) return;
  flow.queued_ns = due_ns;
  events_.Push(due_ns, id);
}

void FlowNetwork::Record(LinkId link) {
  LinkRecord& record = records_[link];
  const Duration elapsed = Duration::Nanoseconds(now_ns_ - record.since_ns);
  if (record.state != LinkState::kIdle) record.use.busy += elapsed;
  if (record.state == LinkState::kFull) record.use.full += elapsed;
  record.since_ns = now_ns_;
  record.state = shares_.state(link);
}

LinkUse FlowNetwork::Use(LinkId link) {
  Settle();
  Record(link);
  LinkUse use = records_[link].use;
  for (int i = 0; i < shares_.flow_count(link); ++i) {
    use.bytes += SentBytes(flows_[shares_.flow(link, i)]);
  }
  return use;
}

std::vector<double> FlowNetwork::Rates(LinkId link) {
  Settle();
  std::vector<double> rates;
  for (int i = 0; i < shares_.flow_count(link); ++i) {
    rates.push_back(flows_[shares_.flow(link, i)].rate * kNanosecondsPerSecond);
  }
  return rates;
}

}  // namespace stagecraft
