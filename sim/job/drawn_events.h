// Failures, repairs and slow devices that are drawn from distributions.
#pragma once

#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// How often parts of a cluster fail. The times between failures of a part are exponential.
struct EventRates {
  struct DeviceKind {
    std::string device;  // Device::id; empty: every device that no other entry names
    Duration mtbf;       // > 0; mean time between failures of one device
  };
  struct SlowDevices {
    double share = 0;  // of all devices, drawn one by one
    double rate = 1;   // in (0, 1]; the speed that is left until the device is repaired
  };
  enum class RepairTime { kConstant, kExponential };

  std::vector<DeviceKind> device_kinds;
  Duration node_mtbf = {};      // of one node as a whole; zero: nodes do not fail
  double rack_probability = 0;  // that a failure takes its whole rack
  Duration repair = {};         // from the failure to the recovery; the mean if exponential
  RepairTime repair_time = RepairTime::kConstant;
  std::vector<SlowDevices> slow;  // shares sum to at most 1
};

// Returns the mean time between failures of anything among all devices and nodes of the cluster,
// while all of them work: 50,700 h of each of 16,384 devices are 3.1 h. Duration::Max() if nothing
// fails.
Duration MeanTimeBetweenFailures(const EventRates& rates, const Cluster& cluster);

// The events of one history, in order of time. Devices that are down do not fail. The cost is
// O(log(parts that are down)) for each event, O(node groups) and O(slow devices) at the start, and
// depends neither on the number of devices nor on the length of the run.
class DrawnEvents {
 public:
  // `rates`, `cluster` and `racks` must outlive this object.
  DrawnEvents(const EventRates& rates, const Cluster& cluster, const Racks& racks, Random random);

  // Returns the time of the next event; Duration::Max() if there is none.
  Duration NextTime() const;
  // Takes it. Returns no value if it turns out to concern a part that is down.
  std::optional<ClusterEvent> Pop();
  // Another node has taken the place of `node`, and can fail as well.
  void Replace(int node);

 private:
  // Parts that fail equally often: devices or nodes, numbered first, ..., first + count - 1.
  struct Source {
    EventTarget::Kind kind = EventTarget::Kind::kDevice;
    int first = 0;
    int count = 0;
    double per_second = 0;  // of all together
  };
  struct Recovery {
    Duration at;
    EventTarget target;
    friend bool operator>(const Recovery& a, const Recovery& b) {
      return a.at != b.at ? a.at > b.at : a.target > b.target;
    }
  };
  friend Duration MeanTimeBetweenFailures(const EventRates& rates, const Cluster& cluster);

  static std::vector<Source> SourcesOf(const EventRates& rates, const Cluster& cluster);
  double Exponential();  // of mean 1
  void DrawSlowDevices();
  void DrawNextFailure();
  EventTarget DrawTarget();
  bool IsDown(const EventTarget& target) const;
  ClusterEvent Fail(EventTarget target);

  const EventRates& rates_;
  const Cluster& cluster_;
  const Racks& racks_;
  Random failures_, targets_, repairs_, slow_;
  std::vector<Source> sources_;
  double per_second_ = 0;  // of all sources
  Duration next_failure_ = Duration::Max();
  std::priority_queue<Recovery, std::vector<Recovery>, std::greater<>> recoveries_;
  std::multiset<EventTarget> down_;         // devices and nodes
  std::vector<ClusterEvent> slow_devices_;  // at time 0, last one first
};

}  // namespace stagecraft
