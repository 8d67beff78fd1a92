#include "sim/engine/traffic_binding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/cube_mesh.h"
#include "sim/cluster/test_nodes.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/network/flow_network.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"
#include "sim/testing/random_plans.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

// Whether the messages of a reduction among these groups are flows. The first two devices of a
// p3.16xlarge have a direct link, and so have the next two.
bool IsBound(const DeviceGroups& groups, const GradientSync& sync = {},
             const std::string& spec = "aws-p3.16xlarge:2") {
  const Cluster cluster = ParseCluster(spec);
  Op op = Op::Collective(OpKind::kAllReduce, Bytes(1'000'000), cluster.DescribeGroup(groups[0]));
  op.sync = sync;
  Schedule::Builder builder;
  const Lane lane = builder.AddLane({builder.AddRank({.device = 0}), LaneKind::kData});
  const OpId id = builder.AddOp(op);
  Tag tag;
  tag.phase = Phase::kGradReduce;
  const TaskId task = builder.Add({&lane, 1}, {}, builder.AddOpSequence({&id, 1}), tag);
  builder.SetCommunicator(task, builder.AddCommunicator(groups));
  const Schedule schedule = builder.Build();
  const PlainModel model;
  const BoundCosts costs = BindCosts(schedule, cluster, model);
  return BindTraffic(schedule, cluster, costs)->Has(task);
}

// A reduction of three ops, each of which takes as long alone, over interfaces of two nodes.
TEST(TrafficBindingTest, AllOpsOfATaskAreSentOneAfterAnother) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:2");
  const std::vector<int> group{0, 8};
  const auto run = [&](int count, LinkUse* use) {
    Op op = Op::Collective(OpKind::kAllReduce, Bytes(1'000'000), cluster.DescribeGroup(group));
    Schedule::Builder builder;
    const Lane lane = builder.AddLane({builder.AddRank({.device = 0}), LaneKind::kData});
    const std::vector<OpId> ops(static_cast<size_t>(count), builder.AddOp(op));
    Tag tag;
    tag.phase = Phase::kGradReduce;
    const TaskId task = builder.Add({&lane, 1}, {}, builder.AddOpSequence(ops), tag);
    builder.SetCommunicator(task, builder.AddCommunicator({group}));
    const PlainModel model;
    SimExecutor executor(cluster, model, {.fidelity = NetworkFidelity::kFlow});
    const Duration time = executor.Execute(builder.Build()).makespan();
    for (const LinkUse& link : executor.link_use()) use->bytes = std::max(use->bytes, link.bytes);
    return time;
  };
  LinkUse one, three;
  EXPECT_EQ(3 * run(1, &one), run(3, &three));
  EXPECT_GT(one.bytes, 0);
  EXPECT_DOUBLE_EQ(three.bytes, 3 * one.bytes);
}

TEST(TrafficBindingTest, OnlyGroupsOverDirectLinksSendNothing) {
  EXPECT_FALSE(IsBound({{0, 1}}));
  EXPECT_FALSE(IsBound({{0, 1}, {2, 3}}));
  EXPECT_TRUE(IsBound({{0, 8}}));
  EXPECT_TRUE(IsBound({{0, 1}, {2, 8}}));
}

// Either NCCL's rings over direct links of the cube mesh pass all devices of a group, or there are
// none and the group crosses PCIe, whichever of its pairs is listed first.
TEST(TrafficBindingTest, GroupsSendWhereDirectLinksMakeNoRing) {
  EXPECT_TRUE(IsBound({{0, 1, 5}}));  // 0 and 5 have no link
  Random random(1);
  int bound = 0;
  for (unsigned members = 0; members < 256; ++members) {
    if (std::popcount(members) < 2) continue;
    std::vector<int32_t> group;
    for (int device = 0; device < kCubeMeshSize; ++device) {
      if ((members >> device & 1u) != 0) group.push_back(device);
    }
    Shuffle(random, group);
    const bool is_bound = CubeMeshRingLinks(stagecraft::CubeMesh::kV100, members) == 0;
    EXPECT_EQ(IsBound({group}), is_bound) << "set " << members;
    bound += is_bound;
  }
  EXPECT_GT(bound, 20);
}

// What ranks send to each other without NCCL goes directly from sender to receiver.
TEST(TrafficBindingTest, PairsWithoutALinkSendOverPcie) {
  GradientSync sync;
  sync.method = SyncMethod::kShardedParameterServer;
  EXPECT_FALSE(IsBound({{0, 1, 2, 3}}, sync));
  EXPECT_TRUE(IsBound({{0, 1, 2, 4}}, sync));
  EXPECT_TRUE(IsBound({Range(0, 8)}, sync));
}

TEST(TrafficBindingTest, ServersOnAnotherNodeAreReachedOverTheNetwork) {
  GradientSync sync;
  sync.method = SyncMethod::kParameterServer;
  sync.servers = 1;
  sync.worker = sync.server = {LinkKind::kNetwork, 1_us, Bandwidth(3.125e9)};
  EXPECT_TRUE(IsBound({{0, 1, 8}}, sync));
  EXPECT_FALSE(IsBound({{0, 1, 2}}, sync));
}

// Reducing inside each node and then among the nodes needs equally many ranks of every group on
// every node. Groups are, for each tensor index, all ranks, and those that hold the same experts.
TEST(TrafficBindingTest, WhatIsAcceptedAsHierarchicalHasEvenGroups) {
  const Workload workload = MakeMixtureOfExperts(6);
  const Cluster cluster("switched", {{WithGpu(Switched()), 2}});
  const PlainModel model;
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    PlanDegrees degrees = Degrees(1 << random.Integer(0, 1), 1);
    degrees.expert = 1 << random.Integer(0, 2);
    degrees.data = 4;
    degrees.devices = degrees.data * degrees.tensor;
    degrees.zero = 0;
    degrees.gradient_sync.method = SyncMethod::kHierarchical;
    degrees.global_batch = 16;
    Plan plan;
    try {
      plan = MakePlan(degrees, workload, cluster);
    } catch (const InputError&) {
      continue;
    }
    plan = Renumber(std::move(plan), Permutation(random, cluster.device_count()));
    if (!FindErrors(plan, workload, cluster).empty()) {
      ++refused;
      continue;
    }
    ++accepted;
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    BindTraffic(schedule, cluster, BindCosts(schedule, cluster, model));
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 50);
}

// There are 2,400 x 2,399 pairs, each with a flow in both directions.
TEST(TrafficBindingTest, TooManyFlowsAreRefusedByTheFlagThatAsksForThem) {
  GradientSync sync;
  sync.method = SyncMethod::kShardedParameterServer;
  try {
    IsBound({Range(0, 2400)}, sync, "aws-p3.16xlarge:300");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--network: got flow with sharded-param"))
        << error.what();
  }
}

}  // namespace
}  // namespace stagecraft
