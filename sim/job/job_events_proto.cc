#include "sim/job/job_events_proto.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/units.h"
#include "sim/job/event_order.h"
#include "sim/job/part_names.h"

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

std::string EventPlace(int event, std::string_view field) {
  return fmt::format("events[{}].{}", event, field);
}

class EventReader {
 public:
  EventReader(const JobEventsProto& proto, const Cluster& cluster, const std::string& file)
      : proto_(proto), cluster_(cluster), file_(file) {}

  JobEvents Read() {
    JobEvents events;
    events.nodes_per_rack = proto_.nodes_per_rack();
    if (events.nodes_per_rack < 0) {
      Fail("nodes_per_rack", "got {}, want 0 or more", events.nodes_per_rack);
    }
    const Racks racks(cluster_, events.nodes_per_rack);
    FindEventLinks();
    for (int i = 0; i < proto_.events_size(); ++i) events.events.push_back(Event(i, racks));
    const std::vector<std::string> errors = FindErrors(events.events, cluster_, racks);
    if (!errors.empty()) throw InputError(file_ + ": " + errors.front());
    if (proto_.has_rates()) events.rates = Rates(proto_.rates(), racks);
    return events;
  }

 private:
  template <typename... Args>
  [[noreturn]] void Fail(std::string_view key, fmt::format_string<Args...> text,
                         Args&&... args) const {
    throw InputError(
        fmt::format("{}: {}: {}", file_, key, fmt::format(text, std::forward<Args>(args)...)));
  }

  Duration Seconds(std::string_view key, double seconds) const {
    if (!(seconds >= 0 && seconds <= kLongestTime.seconds())) {
      Fail(key, "got {} s, want from 0 s to 100 years", seconds);
    }
    return Duration::Seconds(seconds);
  }

  double Share(std::string_view key, double share) const {
    if (!(share >= 0 && share <= 1)) Fail(key, "got {}, want from 0 to 1", share);
    return share;
  }

  // The links that events name.
  void FindEventLinks() {
    std::vector<std::string> names;
    for (const ClusterEventProto& event : proto_.events()) {
      if (event.part_case() == ClusterEventProto::kLink) names.push_back(event.link());
    }
    links_ = FindLinks(names, cluster_);
  }

  EventTarget Target(int i, const ClusterEventProto& proto, const Racks& racks) const {
    switch (proto.part_case()) {
      case ClusterEventProto::kDevice: {
        const auto device = FindDevice(proto.device(), cluster_);
        if (device) return {Kind::kDevice, *device};
        Fail(EventPlace(i, "device"), "got \"{}\", which the cluster lacks, want {}",
             proto.device(), DescribeDevices(cluster_));
      }
      case ClusterEventProto::kNode: {
        const auto node = FindNode(proto.node(), cluster_);
        if (node) return {Kind::kNode, *node};
        Fail(EventPlace(i, "node"), "got \"{}\", which the cluster lacks, want {}", proto.node(),
             DescribeNodes(cluster_));
      }
      case ClusterEventProto::kRack: {
        const auto rack = FindRack(proto.rack(), racks);
        if (rack) return {Kind::kRack, *rack};
        if (racks.count() == 0) {
          Fail(EventPlace(i, "rack"), "got \"{}\", but the cluster's racks are not known, want {}",
               proto.rack(), "nodes_per_rack in this file");
        }
        Fail(EventPlace(i, "rack"),
             "got \"{}\", which the cluster lacks, want from rack0 to rack{}", proto.rack(),
             racks.count() - 1);
      }
      case ClusterEventProto::kLink: {
        const std::vector<int>& links = links_.at(proto.link());
        if (!links.empty()) return {Kind::kLink, links.back()};
        Fail(EventPlace(i, "link"), "got \"{}\", which the cluster lacks, want the form \"{}\"",
             proto.link(), LinkExample(cluster_));
      }
      case ClusterEventProto::PART_NOT_SET:
        break;
    }
    Fail(fmt::format("events[{}]", i), "want a device, node, link or rack");
  }

  ClusterEvent Event(int i, const Racks& racks) const {
    const ClusterEventProto& proto = proto_.events(i);
    ClusterEvent event;
    event.target = Target(i, proto, racks);
    if (proto.what() < ClusterEventProto::SLOW || proto.what() > ClusterEventProto::LEAVE) {
      Fail(EventPlace(i, "what"), "want SLOW, FAIL, RECOVER, JOIN or LEAVE");
    }
    event.what = static_cast<What>(static_cast<int>(proto.what()) - 1);
    if (proto.has_rate() != (event.what == What::kSlow)) {
      Fail(EventPlace(i, "rate"), "want it for SLOW, and for nothing else");
    }
    event.rate = proto.has_rate() ? proto.rate() : 1;
    if (proto.notice_s() != 0 && event.what != What::kLeave) {
      Fail(EventPlace(i, "notice_s"), "got {}, want it for LEAVE only", proto.notice_s());
    }
    event.notice = Seconds(EventPlace(i, "notice_s"), proto.notice_s());
    if (proto.at_case() == ClusterEventProto::kAtStep) {
      if (proto.at_step() < 0) {
        Fail(EventPlace(i, "at_step"), "got {}, want 0 or more", proto.at_step());
      }
      event.at_step = proto.at_step();
    } else if (proto.at_case() == ClusterEventProto::kAtS) {
      event.at = Seconds(EventPlace(i, "at_s"), proto.at_s());
    } else {
      Fail(fmt::format("events[{}]", i), "want at_s or at_step");
    }
    return event;
  }

  EventRates::DeviceKind DeviceKind(int i, const DeviceFailuresProto& proto) const {
    const std::string key = fmt::format("rates.device_failures[{}].", i);
    std::vector<std::string> known;
    for (const auto& group : cluster_.groups()) known.push_back(group.type.device.id);
    const bool is_known = std::find(known.begin(), known.end(), proto.device()) != known.end();
    if (!proto.device().empty() && !is_known) {
      Fail(key + "device", "got \"{}\", which the cluster lacks: {}", proto.device(),
           NearestNames(proto.device(), known));
    }
    const Duration mtbf = Seconds(key + "mtbf_s", proto.mtbf_s());
    if (mtbf <= Duration()) Fail(key + "mtbf_s", "got {}, want above 0", proto.mtbf_s());
    return {proto.device(), mtbf};
  }

  EventRates Rates(const EventRatesProto& proto, const Racks& racks) const {
    EventRates rates;
    std::set<std::string> named;
    for (int i = 0; i < proto.device_failures_size(); ++i) {
      rates.device_kinds.push_back(DeviceKind(i, proto.device_failures(i)));
      if (!named.insert(proto.device_failures(i).device()).second) {
        Fail(fmt::format("rates.device_failures[{}].device", i), "got \"{}\" twice, want it once",
             proto.device_failures(i).device());
      }
    }
    rates.node_mtbf = Seconds("rates.node_mtbf_s", proto.node_mtbf_s());
    rates.rack_probability = Share("rates.rack_probability", proto.rack_probability());
    if (rates.rack_probability > 0 && racks.count() == 0) {
      Fail("rates.rack_probability", "got {}, but the cluster's racks are not known, want {}",
           rates.rack_probability, "nodes_per_rack in this file");
    }
    rates.repair = Seconds("rates.repair_s", proto.repair_s());
    if (proto.repair_time() < 0 || proto.repair_time() > EventRatesProto::EXPONENTIAL) {
      Fail("rates.repair_time", "want CONSTANT or EXPONENTIAL");
    }
    if (proto.repair_time() == EventRatesProto::EXPONENTIAL) {
      rates.repair_time = EventRates::RepairTime::kExponential;
    }
    double shares = 0;
    for (int i = 0; i < proto.slow_devices_size(); ++i) {
      const std::string key = fmt::format("rates.slow_devices[{}].", i);
      const SlowDevicesProto& slow = proto.slow_devices(i);
      rates.slow.push_back({Share(key + "share", slow.share()), Share(key + "rate", slow.rate())});
      if (slow.rate() == 0) Fail(key + "rate", "got 0, want above 0, at most 1");
      shares += slow.share();
    }
    constexpr double kRounding = 1e-9;  // The sum of decimal fractions may be a little above 1.
    if (shares > 1 + kRounding)
      Fail("rates.slow_devices", "shares sum to {}, want at most 1", shares);
    return rates;
  }

  const JobEventsProto& proto_;
  const Cluster& cluster_;
  const std::string& file_;
  std::map<std::string, std::vector<int>> links_;  // by name
};

}  // namespace

JobEvents JobEventsFromProto(const JobEventsProto& proto, const Cluster& cluster,
                             const std::string& file) {
  return EventReader(proto, cluster, file).Read();
}

}  // namespace stagecraft
