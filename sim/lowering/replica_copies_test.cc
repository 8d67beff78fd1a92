#include "sim/lowering/replica_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/cluster/test_nodes.h"
#include "sim/plan/plan.h"
#include "sim/shard/stage_order.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"

namespace stagecraft {
namespace {

std::vector<int> OriginalsOf(int tensor, int data, const Cluster& cluster) {
  PlanDegrees degrees = Degrees(tensor, /*pipeline=*/2);
  degrees.data = data;
  degrees.devices = 2 * tensor * data;
  degrees.global_batch = data * 2;
  return FindOriginals(MakePlan(degrees, MakeWorkload(), cluster), cluster);
}

TEST(ReplicaCopiesTest, ReplicasOnWholeNodesCopyTheFirst) {
  const Cluster cluster("eight nodes", {{WithGpu(Switched()), 8}});
  EXPECT_EQ(OriginalsOf(8, 4, cluster), std::vector<int>(4, 0));
}

TEST(ReplicaCopiesTest, HalvesOfANodeDiffer) {
  const Cluster cluster("two nodes", {{WithGpu(Switched()), 2}});
  EXPECT_EQ(OriginalsOf(4, 2, cluster), (std::vector<int>{0, 1}));
  const Cluster larger("four nodes", {{WithGpu(Switched()), 4}});
  EXPECT_EQ(OriginalsOf(4, 4, larger), (std::vector<int>{0, 1, 0, 1}));
}

// Two nodes of four devices share a switch. The replicas are on the nodes 0 and 3, 1 and 4, 2 and
// 5, in the domains 0 and 1, 0 and 2, 1 and 2.
TEST(ReplicaCopiesTest, CopiesAreEquallyManyDomainsFurtherOn) {
  const Cluster cluster("racks", {{WithGpu(Rack()), 6}});
  EXPECT_EQ(OriginalsOf(4, 3, cluster), (std::vector<int>{0, 1, 0}));
}

TEST(ReplicaCopiesTest, WhatTellsNodesApartLeavesNoCopies) {
  const Cluster cluster("four nodes", {{WithGpu(Switched()), 4}});
  EXPECT_EQ(OriginalsOf(8, 2, cluster.WithSlowParts({.links = {{0, 0.5}}})),
            (std::vector<int>{0, 1}));
  EXPECT_EQ(OriginalsOf(8, 2, cluster.WithSlowParts({.devices = {{0, 0.5}}})),
            (std::vector<int>{0, 1}));
  EXPECT_EQ(OriginalsOf(8, 2, cluster), (std::vector<int>{0, 0}));
}

void ExpectLikeFabrics(const Plan& plan, const Workload& workload, const Cluster& cluster,
                       const std::vector<int>& originals, const std::string& text) {
  MessageFabrics messages(cluster);
  const auto between = [&](int s, int next, int r) {
    std::vector<MessageEnds> ends;
    for (size_t i = 0; i < plan.stages[s].replicas[r].size(); ++i) {
      ends.push_back({plan.stages[s].replicas[r][i], plan.stages[next].replicas[r][i]});
    }
    return messages.Describe(ends);
  };
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < static_cast<int>(originals.size()); ++r) {
      const int original = originals[r];
      if (original == r) continue;
      EXPECT_EQ(StageShard(plan, workload, cluster, s, r),
                StageShard(plan, workload, cluster, s, original))
          << text;
      EXPECT_EQ(ReplicaMicroBatches(plan, s, r), ReplicaMicroBatches(plan, s, original)) << text;
      if (s == 0) continue;
      EXPECT_EQ(between(s, s - 1, r), between(s, s - 1, original)) << text;
      EXPECT_EQ(between(s - 1, s, r), between(s - 1, s, original)) << text;
    }
  }
}

TEST(ReplicaCopiesTest, CopiesSeeTheClusterAsTheirOriginalsDo) {
  const Workload workload = MakeMixtureOfExperts(10);
  int copies = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto draw = [&](int least, int most) {
      return static_cast<int>(random.Integer(least, most));
    };
    std::vector<Cluster::NodeGroup> groups = {{WithGpu(Switched()), draw(1, 6)}};
    groups.push_back({WithGpu(Rack()), 2 * draw(1, 5)});
    if (draw(0, 1) == 0) groups.push_back({WithGpu(CubeMeshNode()), draw(1, 3)});
    const Cluster cluster("drawn", groups);
    PlanDegrees degrees = Degrees(1 << draw(0, 2), draw(1, 3));
    degrees.context = draw(1, 2);
    degrees.expert = 1 << draw(0, 3);
    degrees.data = draw(1, 6) * (draw(0, 1) == 0 ? 1 : degrees.expert);
    degrees.devices = degrees.tensor * degrees.pipeline * degrees.context * degrees.data;
    degrees.global_batch = degrees.data * degrees.pipeline * 2;
    degrees.expert_exchange.sends =
        draw(0, 1) == 0 ? ExpertSends::kOncePerNode : ExpertSends::kEveryCopy;
    try {
      const Plan plan = MakePlan(degrees, workload, cluster);
      const std::vector<int> originals = FindOriginals(plan, cluster);
      for (int r = 0; r < static_cast<int>(originals.size()); ++r) copies += originals[r] != r;
      ExpectLikeFabrics(plan, workload, cluster, originals, "seed " + std::to_string(seed));
    } catch (const InputError&) {
      continue;  // the degrees do not fit this cluster
    }
  }
  EXPECT_GT(copies, 500);
}

}  // namespace
}  // namespace stagecraft
