// Runs traffic with SimGrid, the simulator that ours is measured against.
//
// Its flow-level model CM02 without what is TCP's: no gamma, no cross-traffic,
// no factors. Sharing is then max-min fair, weighted by latency: a flow over
// twice the latency gets half the share. So latencies of routes that share a
// link must be equal.
// SimGrid allows one platform a process: only one call, in a process of its own.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/network/traffic.h"

namespace stagecraft {

struct SimgridRun {
  double seconds = 0;      // the simulated time of the last end
  double cpu_seconds = 0;  // once the platform is built
};

// Ranks are actors; one sends to the next while it receives.
SimgridRun RunOnSimgrid(const RingTraffic& traffic);
// Stages are actors; a message flows as soon as it is sent.
SimgridRun RunOnSimgrid(const PipelineTraffic& traffic);

// One message over a route of its own.
struct TrafficFlow {
  int route = 0;
  Duration start;
  double bytes = 0;
  Bandwidth cap;  // 0: none
};

// When each flow ends, in seconds.
std::vector<double> RunOnSimgrid(const TrafficNetwork& network,
                                 const std::vector<TrafficFlow>& flows);

}  // namespace stagecraft
