// Runs traffic with SimGrid, the simulator with which ours is compared.
//
// This is its flow-level model CM02 without what models TCP: no gamma, no cross-traffic, no
// factors. What remains is max-min fair sharing weighted by latency: a flow with twice the latency
// has half the share, so routes that share a link should have the same latency, or none. A flow
// never has more bandwidth than its links had when it started. SimGrid allows one platform per
// process, so each of these calls needs a process of its own.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "tests/traffic.h"

namespace stagecraft {

struct SimgridRun {
  double seconds = 0;      // the simulated time at which the last message ends
  double cpu_seconds = 0;  // of the simulation, once the platform is built
};

// Ranks are actors, each of which sends to the next one while it receives.
SimgridRun RunOnSimgrid(const RingTraffic& traffic);
// Stages are actors, and a message flows as soon as it is sent.
SimgridRun RunOnSimgrid(const PipelineTraffic& traffic);

// A message.
struct TrafficFlow {
  int route = 0;
  Duration start;
  double bytes = 0;  // a whole number
  Bandwidth cap;     // 0: none
};

// From `time` on, a link has this bandwidth, which must be above 0.
struct TrafficChange {
  int link = 0;
  Duration time;
  Bandwidth bandwidth;
};

// Returns when each flow ends, in seconds.
std::vector<double> RunOnSimgrid(const TrafficNetwork& network,
                                 const std::vector<TrafficFlow>& flows,
                                 const std::vector<TrafficChange>& changes);

}  // namespace stagecraft
