// Traffic as plain numbers, to be run by this simulator and by SimGrid alike.
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

// The links a message from one host to another takes.
struct TrafficRoute {
  int from = 0;
  int to = 0;
  std::vector<int> links;
};

struct TrafficNetwork {
  int hosts = 0;
  std::vector<TrafficLink> links;
  std::vector<TrafficRoute> routes;  // of every pair that has messages
};

// Ring all-reduces at the same time. Ring r has the routes r * ranks to
// (r + 1) * ranks - 1, in the order of its ranks.
struct RingTraffic {
  TrafficNetwork network;
  int rings = 1;
  int ranks = 0;  // of each ring
  Bytes bytes;
};

// 1F1B: passes that take their time on a stage and send to the next or the one
// before. Route 2 i goes from stage i to i + 1, route 2 i + 1 back.
struct PipelineTraffic {
  TrafficNetwork network;
  std::vector<PassOrder> orders;                 // by stage
  std::vector<std::vector<Duration>> durations;  // by stage and place in the order
  Bytes message;
};

// One ring on a loop of links of 50 GB/s and 500 ns: AR-n.
RingTraffic LoopTraffic(int ranks, Bytes bytes);

// Leaves of 32 hosts, pods of 32 leaves and 32 aggregation switches, each of
// which has a link to every leaf and to 32 core switches of its own: three
// tiers without oversubscription at 50 GB/s a link. Rings of 8 hosts, one from
// each of 8 leaves, spread over the pods. Routes take an aggregation and a core
// switch by seeded chance, so that some links are shared and others idle.
// Latency is that of the hosts' links, 500 ns at each end.
// Preconditions: hosts is a multiple of 1024, and a power of two.
RingTraffic FatTreeTraffic(int hosts, Bytes bytes, uint64_t seed);

// PP-PxM: stages with one link to a switch and one from it, 50 GB/s and 500 ns
// for both together; 10 and 20 ms a pass, +-10 % of seeded jitter; 48 MiB.
PipelineTraffic StarPipelineTraffic(int stages, int micro_batches, uint64_t seed);

}  // namespace stagecraft
