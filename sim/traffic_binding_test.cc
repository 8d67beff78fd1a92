#include "sim/traffic_binding.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/bound_costs.h"
#include "sim/cluster.h"
#include "sim/cluster_spec.h"
#include "sim/lowering_testing.h"
#include "sim/schedule.h"
#include "sim/test_nodes.h"

namespace stagecraft {
namespace {

// Whether the messages of a reduction among such groups are flows. The first two
// devices of a p3.16xlarge, and the next two, have direct links.
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
  const TaskId task = builder.Add({&lane, 1}, {}, builder.AddBlock({&id, 1}), tag);
  builder.SetCommunicator(task, builder.AddCommunicator(groups));
  const Schedule schedule = builder.Build();
  const PlainModel model;
  const BoundCosts costs = BindCosts(schedule, cluster, model);
  return BindTraffic(schedule, cluster, costs)->Has(task);
}

TEST(TrafficBindingTest, OnlyGroupsOverDirectLinksSendNothing) {
  EXPECT_FALSE(IsBound({{0, 1}}));
  EXPECT_FALSE(IsBound({{0, 1}, {2, 3}}));
  EXPECT_TRUE(IsBound({{0, 8}}));
  EXPECT_TRUE(IsBound({{0, 1}, {2, 8}}));
}

TEST(TrafficBindingTest, ServersOnAnotherNodeAreReachedOverTheNetwork) {
  GradientSync sync;
  sync.method = SyncMethod::kParameterServer;
  sync.servers = 1;
  sync.worker = sync.server = {LinkKind::kNetwork, 1_us, Bandwidth(3.125e9)};
  EXPECT_TRUE(IsBound({{0, 1, 8}}, sync));
  EXPECT_FALSE(IsBound({{0, 1, 2}}, sync));
}

// 2,400 x 2,399 pairs, both ways.
TEST(TrafficBindingTest, SoManyFlowsAreRefusedByTheFlagThatAsksForThem) {
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
