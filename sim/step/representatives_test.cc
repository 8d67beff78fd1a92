// Flows of representatives of like replicas, compared with those of all replicas.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/replica_symmetry.h"
#include "sim/engine/sim_executor.h"
#include "sim/engine/traffic_binding.h"
#include "sim/lowering/lowering.h"
#include "sim/network/flow_network.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"
#include "sim/testing/random_plans.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

struct Flows {
  Timeline timeline;
  std::vector<LinkUse> links;
};

Flows RunFlows(const Schedule& schedule, const Cluster& cluster, std::vector<LinkChange> changes) {
  const PlainModel model;
  SimExecutor executor(cluster, model,
                       {.fidelity = NetworkFidelity::kFlow, .changes = std::move(changes)});
  Timeline timeline = executor.Execute(schedule);
  return {std::move(timeline), executor.link_use()};
}

// A change that changes nothing keeps representatives from standing for others.
void ExpectSameFlows(const Schedule& schedule, const Cluster& cluster, const std::string& text) {
  const Flows few = RunFlows(schedule, cluster, {});
  const Flows all = RunFlows(schedule, cluster, {{.time = Duration(), .link = 0, .rate = 1}});
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    ASSERT_EQ(few.timeline.start(task), all.timeline.start(task)) << text << ", task " << task;
    ASSERT_EQ(few.timeline.end(task), all.timeline.end(task)) << text << ", task " << task;
  }
  ASSERT_EQ(few.links.size(), all.links.size());
  for (size_t link = 0; link < all.links.size(); ++link) {
    ASSERT_EQ(few.links[link].bytes, all.links[link].bytes) << text << ", link " << link;
    ASSERT_EQ(few.links[link].busy, all.links[link].busy) << text << ", link " << link;
    ASSERT_EQ(few.links[link].full, all.links[link].full) << text << ", link " << link;
  }
}

Cluster DrawCluster(Random& random) {
  const auto draw = [&](int least, int most) {
    return static_cast<int>(random.Integer(least, most));
  };
  switch (draw(0, 3)) {
    case 0:
      return Cluster("racks", {{WithGpu(Rack()), 2 * draw(1, 6)}});
    case 1:
      return Cluster("cubes", {{WithGpu(CubeMeshNode()), draw(2, 6)}});
    case 2:
      return Cluster("mixed", {{WithGpu(Switched()), draw(1, 4)}, {WithGpu(Rack()), draw(1, 4)}});
    default:
      return Cluster("switched", {{WithGpu(Switched()), draw(2, 8)}});
  }
}

// Whether representatives of the schedule can send what all of its replicas do.
bool IsRepresented(const Schedule& schedule, const Cluster& cluster) {
  const auto symmetry = FindReplicaSymmetry(schedule, cluster);
  if (!symmetry) return false;
  const PlainModel model;
  const BoundCosts costs = BindCosts(symmetry->representatives, cluster, model);
  return BindRepresentatives(*symmetry, cluster, costs).traffic != nullptr;
}

// Returns how many of the plans drawn have representatives.
int CompareDrawnPlans(const Workload& workload, bool has_experts, uint64_t seeds) {
  const PlainModel model;
  int represented = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const Cluster cluster = DrawCluster(random);
    PlanDegrees degrees = DrawDegrees(random, has_experts);
    degrees.data *= 1 << random.Integer(0, 2);
    degrees.devices = degrees.pipeline * degrees.tensor * degrees.context * degrees.data;
    degrees.global_batch = degrees.micro_batch * degrees.data * 2 * degrees.pipeline;
    try {
      const Plan plan =
          WithPassOrders(MakePlan(degrees, workload, cluster), workload, cluster, model);
      const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
      represented += IsRepresented(schedule, cluster);
      ExpectSameFlows(schedule, cluster, "seed " + std::to_string(seed));
    } catch (const InputError&) {
      continue;  // the degrees do not fit this cluster
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return represented;
}

TEST(RepresentativesTest, ReplicasTakeAsLongAsTheirRepresentatives) {
  EXPECT_GT(CompareDrawnPlans(MakeWorkload(10), false, 1500), 100);
}

TEST(RepresentativesTest, ReplicasWithExpertsTakeAsLongAsTheirRepresentatives) {
  EXPECT_GT(CompareDrawnPlans(MakeMixtureOfExperts(10), true, 600), 25);
}

// Sixteen replicas of two stages, each on a node of its own; then with two replicas on each node.
TEST(RepresentativesTest, OneReplicaOrThoseOfANodeStandForAll) {
  const Workload workload = MakeWorkload(10);
  for (const int tensor : {8, 4}) {
    PlanDegrees degrees = Degrees(tensor, /*pipeline=*/2);
    degrees.data = 16;
    degrees.devices = 32 * tensor;
    degrees.global_batch = 64;
    const Cluster cluster("switched", {{WithGpu(Switched()), 4 * tensor}});
    const Schedule schedule =
        Lower(MakePlan(degrees, workload, cluster), workload, cluster, {.unfold = true});
    const auto symmetry = FindReplicaSymmetry(schedule, cluster);
    ASSERT_TRUE(symmetry.has_value());
    EXPECT_EQ(symmetry->images, 2 * tensor);
    EXPECT_EQ(symmetry->representatives.ranks().size(), 16u);
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      EXPECT_EQ(schedule.op_sequence(task),
                symmetry->representatives.op_sequence(symmetry->like[task]));
    }
  }
}

TEST(RepresentativesTest, WhatTellsNodesApartLeavesNoRepresentatives) {
  const Workload workload = MakeWorkload(10);
  PlanDegrees degrees = Degrees(8, /*pipeline=*/2);
  degrees.data = 4;
  degrees.devices = 64;
  degrees.global_batch = 16;
  const Cluster cluster("switched", {{WithGpu(Switched()), 8}});
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
  EXPECT_TRUE(FindReplicaSymmetry(schedule, cluster).has_value());
  EXPECT_FALSE(FindReplicaSymmetry(schedule, cluster.WithSlowParts({.devices = {{0, 0.5}}})));
  EXPECT_FALSE(FindReplicaSymmetry(schedule, cluster.WithSlowParts({.links = {{0, 0.5}}})));
  // Devices of one replica change places, so that no shift maps nodes to nodes.
  Plan turned = plan;
  std::swap(turned.stages[0].replicas[0][0], turned.stages[1].replicas[1][1]);
  const Schedule other = Lower(turned, workload, cluster, {.unfold = true});
  EXPECT_FALSE(FindReplicaSymmetry(other, cluster).has_value());
}

}  // namespace
}  // namespace stagecraft
