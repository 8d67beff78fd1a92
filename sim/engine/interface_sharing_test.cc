#include "sim/engine/interface_sharing.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "costmodel/collective_method.h"
#include "costmodel/cost_model.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

// Two nodes of two ranks, with links of 1 GB/s inside nodes and interfaces of 2 GB/s.
Fabric TwoNodes() {
  Fabric fabric = {4, 2, 2, {}, {}, false};
  fabric.intra = {LinkKind::kNvlink, 1_us, Bandwidth(1e9)};
  fabric.inter = {LinkKind::kNetwork, 1_us, Bandwidth(2e9)};
  return fabric;
}

// A message to another node and a reduction of one rank, both from time 0 on.
struct TwoTasks {
  Schedule schedule;
  Timeline timeline;
  BoundCosts costs;
  std::vector<Duration> durations;

  TwoTasks(const Op& message, Duration message_time, const std::vector<Op>& reductions,
           Duration reduction_time) {
    Schedule::Builder builder;
    const int32_t rank = builder.AddRank({.device = 0});
    const Lane next = builder.AddLane({rank, LaneKind::kSendNext});
    const Lane data = builder.AddLane({rank, LaneKind::kData});
    for (const auto& [ops, lane] : {std::pair{std::vector{message}, next}, {reductions, data}}) {
      std::vector<OpId> ids;
      for (const Op& op : ops) ids.push_back(builder.AddOp(op));
      builder.Add({&lane, 1}, {}, builder.AddOpSequence(ids), Tag());
    }
    schedule = builder.Build();
    durations = {message_time, reduction_time};
    timeline = Timeline({Duration(), Duration()}, durations);
    Estimate estimate;
    estimate.method = {Algorithm::kRing, Protocol::kSimple, 1};
    costs.device_of_rank = {0};
    costs.estimates = {std::vector<Estimate>(1 + reductions.size(), estimate)};
  }

  std::vector<Duration> Shared() const {
    return ShareInterfaces(schedule, timeline, costs, durations);
  }
};

Op Message(int64_t bytes) {
  Fabric pair = TwoNodes();
  pair.ranks = 2;
  pair.ranks_per_node = 1;
  return Op::Collective(OpKind::kSendRecv, Bytes(bytes), pair);
}

// The message of 8 MB keeps the interface busy for 4 ms, 0.8 of its 5 ms. The ring of four sends
// 1.5 times 4 MB through an interface in 3 ms, 0.6 of its 5 ms; that it takes 6 ms inside the node
// does not count. Each task loses (0.8 + 0.6 - 1) x 5 ms.
TEST(InterfaceSharingTest, WhatTwoTasksSendTogetherIsSentOneAfterTheOther) {
  const Op reduction = Op::Collective(OpKind::kAllReduce, Bytes(4'000'000), TwoNodes());
  EXPECT_EQ(BusiestLinkTime(reduction, Algorithm::kRing), 6_ms);
  EXPECT_EQ(InterfaceTime(reduction, Algorithm::kRing), 3_ms);
  const TwoTasks tasks(Message(8'000'000), 5_ms, {reduction}, 5_ms);
  EXPECT_EQ(tasks.Shared(), (std::vector<Duration>{7_ms, 7_ms}));
}

// The same ring in four parts, or with an op inside the node behind it.
TEST(InterfaceSharingTest, AllOpsOfATaskAreSent) {
  const Op part = Op::Collective(OpKind::kAllReduce, Bytes(1'000'000), TwoNodes());
  const TwoTasks parts(Message(8'000'000), 5_ms, {part, part, part, part}, 5_ms);
  EXPECT_EQ(parts.Shared(), (std::vector<Duration>{7_ms, 7_ms}));
  Fabric node = TwoNodes();
  node.ranks = node.ranks_per_node = 2;
  node.nodes = 1;
  const Op whole = Op::Collective(OpKind::kAllReduce, Bytes(4'000'000), TwoNodes());
  const Op inside = Op::Collective(OpKind::kAllReduce, Bytes(4'000'000), node);
  const TwoTasks behind(Message(8'000'000), 5_ms, {inside, whole}, 5_ms);
  EXPECT_EQ(behind.Shared(), (std::vector<Duration>{7_ms, 7_ms}));
}

// The reduction takes twice as long, so it runs beside the message for only half of its time:
// (0.8 + 0.3 - 1) x 5 ms.
TEST(InterfaceSharingTest, OnlyTheTimeSideBySideCounts) {
  const Op reduction = Op::Collective(OpKind::kAllReduce, Bytes(4'000'000), TwoNodes());
  const TwoTasks tasks(Message(8'000'000), 5_ms, {reduction}, 10_ms);
  EXPECT_EQ(tasks.Shared(), (std::vector<Duration>{5'500_us, 10'500_us}));
}

TEST(InterfaceSharingTest, TasksThatLeaveRoomForEachOtherLoseNothing) {
  const Op reduction = Op::Collective(OpKind::kAllReduce, Bytes(1'000'000), TwoNodes());
  EXPECT_TRUE(TwoTasks(Message(8'000'000), 5_ms, {reduction}, 5_ms).Shared().empty());
}

// The ranks of one node have a server on another node: n S / B = 2 x 1 MB / 2 GB/s, there and back.
TEST(InterfaceSharingTest, ServersOnAnotherNodeAreBeyondTheInterface) {
  Fabric node = TwoNodes();
  node.ranks = node.ranks_per_node = 2;
  node.nodes = 1;
  Op op = Op::Collective(OpKind::kAllReduce, Bytes(1'000'000), node);
  op.sync.method = SyncMethod::kParameterServer;
  op.sync.servers = 1;
  op.sync.server = op.sync.worker = TwoNodes().inter;
  EXPECT_EQ(InterfaceTime(op, Algorithm::kDirect), 2_ms);
  op.sync.server = op.sync.worker = node.intra;
  EXPECT_EQ(InterfaceTime(op, Algorithm::kDirect), Duration());
}

}  // namespace
}  // namespace stagecraft
