// Runs traffic with SimGrid, the simulator that ours is measured against.
//
// Its flow-level model CM02 without what is TCP's: no gamma, no cross-traffic, no
// factors. What remains is max-min fair sharing weighted by latency, a flow over
// twice the latency with half the share; so routes that share a link should have
// the same latency, or none. A flow never has more than its links had when it
// started.
// SimGrid allows one platform a process: only one call, in a process of its own.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "tests/traffic.h"

namespace stagecraft {

struct SimgridRun {
  double seconds = 0;      // the simulated time of the last end
  double cpu_seconds = 0;  // once the platform is built
};

// Ranks are actors; one sends to the next while it receives.
SimgridRun RunOnSimgrid(const RingTraffic& traffic);
// Stages are actors; a message flows as soon as it is sent.
SimgridRun RunOnSimgrid(const PipelineTraffic& traffic);

// One message.
struct TrafficFlow {
  int route = 0;
  Duration start;
  double bytes = 0;  // whole
  Bandwidth cap;     // 0: none
};

// From `time` on a link has another bandwidth, > 0.
struct TrafficChange {
  int link = 0;
  Duration time;
  Bandwidth bandwidth;
};

// When each flow ends, in seconds.
std::vector<double> RunOnSimgrid(const TrafficNetwork& network,
                                 const std::vector<TrafficFlow>& flows,
                                 const std::vector<TrafficChange>& changes);

}  // namespace stagecraft
