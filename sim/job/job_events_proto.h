// JobEventsFromProto(): reads files of cluster events.
#pragma once

#include <string>
#include <vector>

#include "proto/job_events.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"
#include "sim/job/drawn_events.h"

namespace stagecraft {

struct JobEvents {
  std::vector<ClusterEvent> events;
  EventRates rates;
  int nodes_per_rack = 0;
};

// Checks everything. Throws InputError that begins with `file`: "faults.yaml: events[2].rate: got
// 1.5, want from 0 to 1".
JobEvents JobEventsFromProto(const JobEventsProto& proto, const Cluster& cluster,
                             const std::string& file);

}  // namespace stagecraft
