#include "sim/engine/memory_sharing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr double kDevice = 1e12;  // bytes/s that one device reaches alone

// Makes a node with this many devices.
Cluster Sharing(int devices, std::vector<SharedMemory> shared) {
  NodeType node = Switched();
  node.devices = devices;
  node.device.memory_bandwidth = Bandwidth(kDevice);
  return Cluster("c", {{node, 1}}, {}, "", {}, std::move(shared));
}

// One task of 10 ms on each device, from time 0 on, that moves this many bytes.
struct SideBySide {
  Schedule schedule;
  Timeline timeline;
  BoundCosts costs;
  std::vector<Duration> durations;

  explicit SideBySide(const std::vector<int64_t>& bytes) {
    Schedule::Builder builder;
    costs.devices = {Switched().device};
    costs.devices[0].memory_bandwidth = Bandwidth(kDevice);
    costs.estimates.resize(1);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int32_t rank = builder.AddRank({.device = static_cast<int32_t>(i)});
      const Lane lane = builder.AddLane({rank, LaneKind::kCompute});
      const OpId op = builder.AddOp(Op::Elementwise(Bytes(bytes[i])));
      builder.Add({&lane, 1}, {}, builder.AddOpSequence({&op, 1}), Tag());
      costs.device_of_rank.push_back(0);
      costs.estimates[0].push_back({.time = 10_ms});
      durations.push_back(10_ms);
    }
    schedule = builder.Build();
    timeline = Timeline(std::vector<Duration>(bytes.size()), durations);
  }

  std::vector<Duration> On(const Cluster& cluster) const {
    return ShareMemory(schedule, timeline, costs, cluster, durations);
  }
};

constexpr int64_t kWhole = 10'000'000'000;  // what a device moves in 10 ms

// Both take as much as they could alone of a memory that gives 1.25 times that: each loses
// 0.8 + 0.8 - 1 of its time.
TEST(MemorySharingTest, DemandBeyondTheBandwidthOfTheMemoryIsLost) {
  const SideBySide both({kWhole, kWhole});
  const Cluster cluster = Sharing(2, {{{0, 1}, Bandwidth(1.25 * kDevice)}});
  EXPECT_EQ(both.On(cluster), (std::vector<Duration>{16_ms, 16_ms}));
}

TEST(MemorySharingTest, NothingIsLostIfTheMemoryIsFastEnough) {
  const SideBySide both({kWhole, kWhole});
  EXPECT_TRUE(both.On(Sharing(2, {{{0, 1}, Bandwidth(2 * kDevice)}})).empty());
  EXPECT_TRUE(both.On(Sharing(2, {})).empty());
  // Nor if both are bound by memory part of the time: together they never take more than it gives.
  EXPECT_TRUE(SideBySide({kWhole / 2, kWhole / 2})
                  .On(Sharing(2, {{{0, 1}, Bandwidth(2 * kDevice)}}))
                  .empty());
  // Nor by devices that do not share a memory.
  const SideBySide four({kWhole, 0, 0, kWhole});
  EXPECT_TRUE(
      four.On(Sharing(4, {{{0, 1}, Bandwidth(kDevice)}, {{2, 3}, Bandwidth(kDevice)}})).empty());
}

// The second task is bound by memory for half of its time. The first loses E max(0, X) for a normal
// X with mean and sigma 1/2. The second, which needs the memory half as often, loses half of 10 ms.
TEST(MemorySharingTest, TasksThatAlsoComputeTakeLessOfTheMemory) {
  const SideBySide tasks({kWhole, kWhole / 2});
  const std::vector<Duration> shared = tasks.On(Sharing(2, {{{0, 1}, Bandwidth(kDevice)}}));
  const double below = std::erfc(-1 / std::numbers::sqrt2) / 2;
  const double density = std::exp(-0.5) / std::sqrt(2 * std::numbers::pi);
  EXPECT_NEAR(shared[0].ms(), 10 * (1 + 0.5 * below + 0.5 * density), 1e-6);
  EXPECT_EQ(shared[1], 15_ms);
}

// The times of two tasks of 10 ms side by side: one takes the whole memory bandwidth of device 0,
// the other sends a quarter of what the first moves from there to device `to`.
std::vector<Duration> BesideAMessage(int to) {
  Schedule::Builder builder;
  for (int r = 0; r < 3; ++r) builder.AddRank({.device = r});
  const Fabric pair{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = {}, .inter = {}};
  const OpId compute = builder.AddOp(Op::Elementwise(Bytes(kWhole)));
  const OpId message = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(kWhole / 4), pair));
  const Lane computes = builder.AddLane({0, LaneKind::kCompute});
  const Lane sends = builder.AddLane({0, LaneKind::kSendNext});
  builder.Add({&computes, 1}, {}, builder.AddOpSequence({&compute, 1}), Tag());
  const TaskId sent = builder.Add({&sends, 1}, {}, builder.AddOpSequence({&message, 1}), Tag());
  builder.SetCommunicator(sent, builder.AddCommunicator({{0, to}}));
  BoundCosts costs;
  costs.devices = {Switched().device};
  costs.devices[0].memory_bandwidth = Bandwidth(kDevice);
  costs.device_of_rank = {0, 0, 0};
  costs.estimates = {{{.time = 10_ms}, {.time = 10_ms}}};
  const std::vector<Duration> durations = {10_ms, 10_ms};
  return ShareMemory(builder.Build(), Timeline({Duration(), Duration()}, durations), costs,
                     Sharing(3, {{{0, 1}, Bandwidth(kDevice)}}), durations);
}

// The message is read and written, so each task loses half of 10 ms.
TEST(MemorySharingTest, AMessageWithinTheMemoryPassesItTwice) {
  EXPECT_EQ(BesideAMessage(1), (std::vector<Duration>{15_ms, 15_ms}));
}

TEST(MemorySharingTest, AMessageToAnotherMemoryIsLeftOut) {
  EXPECT_TRUE(BesideAMessage(2).empty());
}

TEST(MemorySharingTest, ThreeLoseMoreThanTwo) {
  const SharedMemory all = {{0, 1, 2}, Bandwidth(kDevice)};
  const Duration two = SideBySide({kWhole, kWhole, 0}).On(Sharing(3, {all}))[0];
  const Duration three = SideBySide({kWhole, kWhole, kWhole}).On(Sharing(3, {all}))[0];
  EXPECT_EQ(two, 20_ms);
  EXPECT_EQ(three, 30_ms);
}

}  // namespace
}  // namespace stagecraft
