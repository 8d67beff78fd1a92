#include "sim/job/drawn_events.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

// The mean time between failures of a kind of device; zero if it does not fail.
Duration MtbfOf(const EventRates& rates, const std::string& device) {
  Duration others;
  for (const EventRates::DeviceKind& kind : rates.device_kinds) {
    if (kind.device == device) return kind.mtbf;
    if (kind.device.empty()) others = kind.mtbf;
  }
  return others;
}

}  // namespace

std::vector<DrawnEvents::Source> DrawnEvents::SourcesOf(const EventRates& rates,
                                                        const Cluster& cluster) {
  std::vector<Source> sources;
  int first = 0;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const int count = group.count * group.type.devices;
    const Duration mtbf = MtbfOf(rates, group.type.device.id);
    if (mtbf > Duration()) sources.push_back({Kind::kDevice, first, count, count / mtbf.seconds()});
    first += count;
  }
  if (rates.node_mtbf > Duration()) {
    const int nodes = cluster.node_count();
    sources.push_back({Kind::kNode, 0, nodes, nodes / rates.node_mtbf.seconds()});
  }
  return sources;
}

Duration MeanTimeBetweenFailures(const EventRates& rates, const Cluster& cluster) {
  double per_second = 0;
  for (const DrawnEvents::Source& source : DrawnEvents::SourcesOf(rates, cluster)) {
    per_second += source.per_second;
  }
  return per_second > 0 ? Duration::Seconds(1 / per_second) : Duration::Max();
}

DrawnEvents::DrawnEvents(const EventRates& rates, const Cluster& cluster, const Racks& racks,
                         Random random)
    : rates_(rates),
      cluster_(cluster),
      racks_(racks),
      failures_(random.Child("failure times", 0)),
      targets_(random.Child("failing parts", 0)),
      repairs_(random.Child("repair times", 0)),
      slow_(random.Child("slow devices", 0)),
      sources_(SourcesOf(rates, cluster)) {
  for (const Source& source : sources_) per_second_ += source.per_second;
  DrawSlowDevices();
  next_failure_ = Duration();
  DrawNextFailure();
}

// The number of devices from one slow device to the next is geometric.
void DrawnEvents::DrawSlowDevices() {
  double share = 0;
  for (const EventRates::SlowDevices& slow : rates_.slow) share += slow.share;
  if (share <= 0) return;
  const double log_other = share < 1 ? std::log1p(-share) : 0;
  for (int64_t device = 0;; ++device) {
    if (share < 1) {
      const double skipped = std::floor(slow_.Exponential() / -log_other);
      if (skipped >= cluster_.device_count()) break;
      device += static_cast<int64_t>(skipped);
    }
    if (device >= cluster_.device_count()) break;
    double left = slow_.Uniform() * share;
    double rate = 1;
    for (const EventRates::SlowDevices& slow : rates_.slow) {
      if (slow.share <= 0) continue;
      rate = slow.rate;
      if (left < slow.share) break;
      left -= slow.share;
    }
    slow_devices_.push_back({{Kind::kDevice, static_cast<int>(device)}, What::kSlow, rate});
  }
  std::reverse(slow_devices_.begin(), slow_devices_.end());
}

void DrawnEvents::DrawNextFailure() {
  next_failure_ = per_second_ > 0
                      ? next_failure_ + Duration::Seconds(failures_.Exponential() / per_second_)
                      : Duration::Max();
}

EventTarget DrawnEvents::DrawTarget() {
  double left = targets_.Uniform() * per_second_;
  const Source* chosen = &sources_.back();
  for (const Source& source : sources_) {
    if (left < source.per_second) {
      chosen = &source;
      break;
    }
    left -= source.per_second;
  }
  return {chosen->kind,
          static_cast<int>(targets_.Integer(chosen->first, chosen->first + chosen->count - 1))};
}

// Visits the entries of down_ that a failure has.
template <typename Visit>
void DrawnEvents::VisitDown(const Recovery& recovery, const Visit& visit) const {
  const EventTarget& target = recovery.target;
  if (target.kind != Kind::kRack) return visit(std::pair(target, recovery.failure));
  for (int node = racks_.first_node(target.index); node < racks_.first_node(target.index + 1);
       ++node) {
    visit(std::pair(EventTarget{Kind::kNode, node}, recovery.failure));
  }
}

bool DrawnEvents::HasFailed(const EventTarget& target) const {
  const auto found = down_.lower_bound({target, 0});
  return found != down_.end() && found->first == target;
}

bool DrawnEvents::IsDown(const EventTarget& target) const {
  return HasFailed(target) || (target.kind == Kind::kDevice &&
                               HasFailed({Kind::kNode, cluster_.place(target.index).node}));
}

ClusterEvent DrawnEvents::Fail(EventTarget target) {
  if (rates_.rack_probability > 0 && racks_.count() > 0) {
    const int node = target.kind == Kind::kNode ? target.index : cluster_.place(target.index).node;
    if (targets_.Uniform() < rates_.rack_probability) target = {Kind::kRack, racks_.rack(node)};
  }
  Duration repair = rates_.repair;
  if (rates_.repair_time == EventRates::RepairTime::kExponential) {
    repair = Duration::Seconds(repair.seconds() * repairs_.Exponential());
  }
  const Recovery recovery{next_failure_ + repair, target, failure_count_++};
  recoveries_.push(recovery);
  VisitDown(recovery, [this](const auto& entry) { down_.insert(entry); });
  ClusterEvent event{target, What::kFail};
  event.at = next_failure_;
  return event;
}

Duration DrawnEvents::NextTime() const {
  if (!slow_devices_.empty()) return Duration();
  return recoveries_.empty() ? next_failure_ : std::min(next_failure_, recoveries_.top().at);
}

std::optional<ClusterEvent> DrawnEvents::Pop() {
  if (!slow_devices_.empty()) {
    const ClusterEvent event = slow_devices_.back();
    slow_devices_.pop_back();
    return event;
  }
  if (!recoveries_.empty() && recoveries_.top().at <= next_failure_) {
    const Recovery recovery = recoveries_.top();
    recoveries_.pop();
    VisitDown(recovery, [this](const auto& entry) { down_.erase(entry); });
    ClusterEvent event{recovery.target, What::kRecover};
    event.at = recovery.at;
    return event;
  }
  const EventTarget target = DrawTarget();
  std::optional<ClusterEvent> event;
  if (!IsDown(target)) event = Fail(target);
  DrawNextFailure();
  return event;
}

void DrawnEvents::Replace(int node) {
  const auto erase = [this](const EventTarget& first, const EventTarget& end) {
    down_.erase(down_.lower_bound({first, 0}), down_.lower_bound({end, 0}));
  };
  erase({Kind::kNode, node}, {Kind::kNode, node + 1});
  const int first = cluster_.first_device(node);
  erase({Kind::kDevice, first}, {Kind::kDevice, first + cluster_.node(node).devices});
}

}  // namespace stagecraft
