// Measures collectives between devices of this host and makes a table that `fit --network` reads.
#pragma once

#include <functional>
#include <string>

#include "runtime/profile/op_timer.h"
#include "runtime/profile/profiler.h"
#include "sim/cluster/cluster.h"
#include "tools/profile/profile_run.h"

namespace stagecraft {

struct CollectiveSweep {
  std::string text;  // a table of collectives (costmodel/network/collective_table.h)
  ProfileReport report;
};

// Runs the suite of collectives in two groups: the first two devices, and all of them. `cluster` is
// a node with the devices of the timer, in the same order. Of the request only suite, seed, budget,
// stop and output are used.
CollectiveSweep SweepCollectives(OpTimer& timer, const Cluster& cluster,
                                 const ProfileRequest& request, ProfilerClock& clock,
                                 const std::function<void(const ProfileProgress&)>& show);

}  // namespace stagecraft
