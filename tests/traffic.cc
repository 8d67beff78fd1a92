#include "tests/traffic.h"

#include <utility>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr Bandwidth kRate(50e9);
constexpr Duration kLatency = Duration::Nanoseconds(500);

// The links of a fat tree, numbered tier by tier.
class FatTree {
 public:
  FatTree(int hosts, uint64_t seed) : random_(seed) {
    const int pods = hosts / (kLeaves * kHosts);
    links_.assign(2 * hosts, {kRate, kLatency});
    leaf_base_ = static_cast<int>(links_.size());
    links_.resize(links_.size() + 2 * pods * kLeaves * kAggregations, {kRate, {}});
    core_base_ = static_cast<int>(links_.size());
    links_.resize(links_.size() + 2 * pods * kAggregations * kCores, {kRate, {}});
  }

  const std::vector<TrafficLink>& links() const { return links_; }

  std::vector<int> Route(int from, int to) {
    const int from_leaf = from / kHosts;
    const int to_leaf = to / kHosts;
    const int from_pod = from_leaf / kLeaves;
    const int to_pod = to_leaf / kLeaves;
    std::vector<int> links = {2 * from};
    if (from_leaf != to_leaf) {
      const int aggregation = static_cast<int>(random_.Integer(0, kAggregations - 1));
      links.push_back(leaf_base_ + 2 * (from_leaf * kAggregations + aggregation));
      if (from_pod != to_pod) {
        const int core = static_cast<int>(random_.Integer(0, kCores - 1));
        const int up = (from_pod * kAggregations + aggregation) * kCores + core;
        const int down = (to_pod * kAggregations + aggregation) * kCores + core;
        links.push_back(core_base_ + 2 * up);
        links.push_back(core_base_ + 2 * down + 1);
      }
      links.push_back(leaf_base_ + 2 * (to_leaf * kAggregations + aggregation) + 1);
    }
    links.push_back(2 * to + 1);
    return links;
  }

 private:
  static constexpr int kHosts = 32;         // per leaf
  static constexpr int kLeaves = 32;        // per pod
  static constexpr int kAggregations = 32;  // per pod
  static constexpr int kCores = 32;         // per aggregation switch

  Random random_;
  std::vector<TrafficLink> links_;
  int leaf_base_ = 0;
  int core_base_ = 0;
};

}  // namespace

RingTraffic LoopTraffic(int ranks, Bytes bytes) {
  RingTraffic traffic;
  traffic.network.hosts = ranks;
  traffic.network.links.assign(ranks, {kRate, kLatency});
  for (int rank = 0; rank < ranks; ++rank) {
    traffic.network.routes.push_back({rank, (rank + 1) % ranks, {rank}});
  }
  traffic.ranks = ranks;
  traffic.bytes = bytes;
  return traffic;
}

RingTraffic FatTreeTraffic(int hosts, Bytes bytes, uint64_t seed) {
  constexpr int kRanks = 8;
  FatTree tree(hosts, seed);
  RingTraffic traffic;
  traffic.network.hosts = hosts;
  traffic.network.links = tree.links();
  traffic.ranks = kRanks;
  traffic.rings = hosts / kRanks;
  traffic.bytes = bytes;
  for (int ring = 0; ring < traffic.rings; ++ring) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const int from = ring + rank * traffic.rings;
      const int to = ring + (rank + 1) % kRanks * traffic.rings;
      traffic.network.routes.push_back({from, to, tree.Route(from, to)});
    }
  }
  return traffic;
}

PipelineTraffic StarPipelineTraffic(int stages, int micro_batches, uint64_t seed) {
  PipelineTraffic traffic;
  traffic.network.hosts = stages;
  traffic.message = Bytes(48 << 20);
  Random random(seed);
  for (int stage = 0; stage < stages; ++stage) {
    traffic.network.links.push_back({kRate, kLatency});  // to the switch: 2 * stage
    traffic.network.links.push_back({kRate, {}});        // from the switch: 2 * stage + 1
    if (stage + 1 < stages) {
      const int next = stage + 1;
      traffic.network.routes.push_back({stage, next, {2 * stage, 2 * next + 1}});
      traffic.network.routes.push_back({next, stage, {2 * next, 2 * stage + 1}});
    }
    traffic.orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
    std::vector<Duration> durations;
    for (const Pass& pass : traffic.orders.back()) {
      const Duration nominal = pass.phase == Phase::kForward ? 10_ms : 20_ms;
      const double jitter = 0.9 + 0.2 * random.Uniform();
      durations.push_back(Duration::Seconds(nominal.seconds() * jitter));
    }
    traffic.durations.push_back(std::move(durations));
  }
  return traffic;
}

}  // namespace stagecraft
