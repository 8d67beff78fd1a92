#include "costmodel/host_collective.h"

#include <gtest/gtest.h>

#include "costmodel/analytical_model.h"
#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// A host with memory of 3 GB/s. Reducing a byte takes three accesses and so as long as sending one
// at 1 GB/s.
Device Processor() {
  Device device;
  device.generation = Generation::kHost;
  device.memory_bandwidth = Bandwidth(3e9);
  return device;
}

Op On(int ranks, OpKind kind, int64_t bytes) {
  Fabric fabric = {ranks, 1, ranks, {LinkKind::kHost, 10_us, Bandwidth(1e9)}, {}, false};
  return Op::Collective(kind, Bytes(bytes), fabric);
}

Duration Time(const Op& op) { return PredictHostCollective(op, Processor()).time; }

TEST(HostCollectiveTest, EveryAlgorithmTakesItsSteps) {
  EXPECT_EQ(Time(On(2, OpKind::kSendRecv, 1'000'000)), 1010_us);
  EXPECT_EQ(Time(On(4, OpKind::kAllGather, 4'000'000)), 3030_us);
  EXPECT_EQ(Time(On(4, OpKind::kReduceScatter, 4'000'000)), 19050_us);
  EXPECT_EQ(Time(On(4, OpKind::kAllToAll, 4'000'000)), 3030_us);
  EXPECT_EQ(Time(On(4, OpKind::kAllReduce, 4'000'000)), 24040_us);
  EXPECT_EQ(Time(On(4, OpKind::kAllReduce, 4'000)), 64_us);
  EXPECT_EQ(Time(On(8, OpKind::kBroadcast, 1'000)), 33_us);
  EXPECT_EQ(Time(On(8, OpKind::kBroadcast, 8'000'000)), 24030_us);
  EXPECT_EQ(Time(On(1, OpKind::kAllReduce, 4'000)), Duration());
}

// There are two nodes of two ranks each, with 100 MB/s between them.
TEST(HostCollectiveTest, BetweenNodesEveryStepIsAsSlowAsTheNetwork) {
  Op op = On(4, OpKind::kAllGather, 4'000'000);
  op.fabric.nodes = op.fabric.ranks_per_node = 2;
  op.fabric.inter = {LinkKind::kNetwork, 50_us, Bandwidth(1e8)};
  EXPECT_EQ(Time(op), 30150_us);
}

// Nothing is launched on a GPU, so there is no host time: the host is the device.
TEST(HostCollectiveTest, AModelUsesItOnlyForHosts) {
  const Op op = On(2, OpKind::kAllReduce, 1'000'000);
  const Estimate host = AnalyticalModel().Predict({&op, 1}, Processor())[0];
  EXPECT_EQ(host.time, Time(op));
  EXPECT_EQ(host.host, Duration());
  Device gpu = Processor();
  gpu.generation = Generation::kHopper;
  EXPECT_GT(AnalyticalModel().Predict({&op, 1}, gpu)[0].host, Duration());
}

}  // namespace
}  // namespace stagecraft
