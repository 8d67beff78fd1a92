// DrawnEvents: failures, repairs and slow devices that are drawn from distributions.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// How often parts of a cluster fail. The times between failures of a part are exponential.
struct EventRates {
  struct DeviceKind {
    std::string device;  // The Device::id; if it is empty, all that no other entry names.
    Duration mtbf;       // The mean time between failures of one device, > 0.
  };
  struct SlowDevices {
    double share = 0;  // The share of all devices; they are drawn one by one.
    double rate = 1;   // The speed that is left until the device is repaired, in (0, 1].
  };
  enum class RepairTime { kConstant, kExponential };

  std::vector<DeviceKind> device_kinds;
  Duration node_mtbf = {};      // The same for one node as a whole; if zero, none fails.
  double rack_probability = 0;  // The probability that a failure takes its whole rack.
  Duration repair = {};         // The time from a failure to the recovery; the mean if exponential.
  RepairTime repair_time = RepairTime::kConstant;
  std::vector<SlowDevices> slow;  // The shares sum to at most 1.
};

// Returns the mean time between failures of anything among all devices and nodes of the cluster,
// while all of them work: 50,700 h of each of 16,384 devices are 3.1 h. Duration::Max() if nothing
// fails.
Duration MeanTimeBetweenFailures(const EventRates& rates, const Cluster& cluster);

// Draws the events of one history, in order of time. Devices that are down do not fail. The cost is
// O(log(parts that are down)) for each event, O(node groups) and O(slow devices) at the start, and
// depends neither on the number of devices nor on the length of the run.
class DrawnEvents {
 public:
  // `rates`, `cluster` and `racks` must outlive this object.
  DrawnEvents(const EventRates& rates, const Cluster& cluster, const Racks& racks, Random random);

  // Returns the time of the next event; Duration::Max() if there is none.
  Duration NextTime() const;
  // Takes the next event. Returns no value if it turns out to concern a part that is down.
  std::optional<ClusterEvent> Pop();
  // Another node has taken the place of `node`, and can fail as well.
  void Replace(int node);

 private:
  // The devices or nodes first, ..., first + count - 1, which fail equally often.
  struct Source {
    EventTarget::Kind kind = EventTarget::Kind::kDevice;
    int first = 0;
    int count = 0;
    double per_second = 0;  // The failures of all of them together.
  };
  struct Recovery {
    Duration at;
    EventTarget target;
    int64_t failure = 0;  // The number of the failure that it ends.
    friend auto operator<=>(const Recovery&, const Recovery&) = default;
  };
  friend Duration MeanTimeBetweenFailures(const EventRates& rates, const Cluster& cluster);

  static std::vector<Source> SourcesOf(const EventRates& rates, const Cluster& cluster);
  void DrawSlowDevices();
  void DrawNextFailure();
  EventTarget DrawTarget();
  template <typename Visit>
  void VisitDown(const Recovery& recovery, const Visit& visit) const;
  bool HasFailed(const EventTarget& target) const;
  bool IsDown(const EventTarget& target) const;
  ClusterEvent Fail(EventTarget target);

  const EventRates& rates_;
  const Cluster& cluster_;
  const Racks& racks_;
  Random failures_, targets_, repairs_, slow_;
  std::vector<Source> sources_;
  double per_second_ = 0;  // The failures of all sources together.
  Duration next_failure_ = Duration::Max();
  std::priority_queue<Recovery, std::vector<Recovery>, std::greater<>> recoveries_;
  int64_t failure_count_ = 0;
  // The devices and nodes that are down, each with the number of the failure that is the cause.
  std::set<std::pair<EventTarget, int64_t>> down_;
  std::vector<ClusterEvent> slow_devices_;  // They are slow from time 0 on; the last is the first.
};

}  // namespace stagecraft
