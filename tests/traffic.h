// Traffic as plain numbers, which both this simulator and SimGrid can run.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

struct TrafficLink {
  Bandwidth bandwidth;
  Duration latency;
};

// The links that a message from one host to another crosses.
struct TrafficRoute {
  int from = 0;
  int to = 0;
  std::vector<int> links;
};

struct TrafficNetwork {
  int hosts = 0;
  std::vector<TrafficLink> links;
  std::vector<TrafficRoute> routes;  // for every pair that exchanges messages
};

// Several ring all-reduces at the same time. Ring r has the routes r * ranks to
// (r + 1) * ranks - 1, in the order of its ranks.
struct RingTraffic {
  TrafficNetwork network;
  int rings = 1;
  int ranks = 0;  // of each ring
  Bytes bytes;
};

// 1F1B: each pass takes some time on its stage, and then sends to the next or the previous stage.
// Route 2 i goes from stage i to i + 1, route 2 i + 1 back.
struct PipelineTraffic {
  TrafficNetwork network;
  std::vector<PassOrder> orders;                 // by stage
  std::vector<std::vector<Duration>> durations;  // by stage and index in its pass order
  Bytes message;
};

// AR-n: returns one ring on a loop of links of 50 GB/s and 500 ns.
RingTraffic LoopTraffic(int ranks, Bytes bytes);

// Returns rings of 8 hosts, one from each of 8 leaves, spread over the pods of a fat tree: three
// tiers without oversubscription, with links of 50 GB/s. A leaf has 32 hosts, and a pod has 32
// leaves and 32 aggregation switches. Each of these has a link to every leaf of the pod and to 32
// core switches, which it shares with the aggregation switches of the same number in other pods.
// Routes take an aggregation and a core switch by seeded chance, so that some links are shared and
// others idle. Only hosts' links have a latency, 500 ns at each end.
// Preconditions: hosts is a multiple of 1024, and a power of two.
RingTraffic FatTreeTraffic(int hosts, Bytes bytes, uint64_t seed);

// PP-PxM: returns stages that have one link to a switch and one from it, of 50 GB/s, and 500 ns for
// both together. Forwards take 10 ms and backwards 20 ms, with a seeded jitter of +-10 %, and
// messages have 48 MiB.
PipelineTraffic StarPipelineTraffic(int stages, int micro_batches, uint64_t seed);

}  // namespace stagecraft
