#include "sim/network/flow_simulation.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/network/collective_patterns.h"

namespace stagecraft {
namespace {

constexpr Bandwidth kGigabyte(1e9);                      // a second: one byte a nanosecond
constexpr Duration kLatency = Duration::Nanoseconds(5);  // of a link

// Every participant has a link to a switch and one from it: a message takes
// 10 ns and then a nanosecond a byte.
class Star {
 public:
  explicit Star(int participants) {
    for (int i = 0; i < participants; ++i) {
      out_.push_back(network_.AddLink(kGigabyte, kLatency));
      in_.push_back(network_.AddLink(kGigabyte, kLatency));
    }
  }

  std::vector<RouteId> Routes(const MessagePattern& pattern, int first = 0) {
    std::vector<RouteId> routes;
    for (const MessagePair& pair : pattern.pairs()) {
      const LinkId out = out_[first + pair.from];
      routes.push_back(network_.AddRoute(std::vector<LinkId>{out, in_[first + pair.to]}));
    }
    return routes;
  }

  FlowNetwork* network() { return &network_; }
  LinkId out(int participant) const { return out_[participant]; }

 private:
  FlowNetwork network_;
  std::vector<LinkId> out_, in_;
};

int64_t EndOf(const MessagePattern& pattern, int participants, const FlowLimits& limits = {}) {
  Star star(participants);
  FlowSimulation simulation(star.network());
  const std::vector<RouteId> routes = star.Routes(pattern);
  simulation.Start(3, pattern, routes, 0_ns, limits);
  const std::span<const int32_t> ended = simulation.Advance(Duration::Max());
  EXPECT_EQ(ended.size(), 1u);
  EXPECT_EQ(simulation.messages_arrived(), pattern.messages());
  EXPECT_EQ(simulation.running(), 0);
  EXPECT_EQ(simulation.NextTime(), Duration::Max());
  return simulation.now().ns();
}

TEST(FlowSimulationTest, AMessageTakesItsLatencyAndItsBytes) {
  EXPECT_EQ(EndOf(SendReceive(Bytes(1000)), 2), 1010);
  EXPECT_EQ(EndOf(SendReceive(Bytes(1000)), 2, {90_ns, kGigabyte}), 1100);
  EXPECT_EQ(EndOf(SendReceive(Bytes(1000)), 2, {0_ns, Bandwidth(0.5e9)}), 2010);
}

TEST(FlowSimulationTest, ARingTakesAsManyStepsAsItHas) {
  EXPECT_EQ(EndOf(RingAllReduce(4, Bytes(4000)), 4), 6 * 1010);
  EXPECT_EQ(EndOf(RingAllGather(4, Bytes(4000)), 4), 3 * 1010);
  EXPECT_EQ(EndOf(RingAllReduce(1, Bytes(4000)), 1), 0);
}

// Four chunks over three hops: six times a chunk.
TEST(FlowSimulationTest, AChainIsPipelined) {
  EXPECT_EQ(EndOf(ChainBroadcast(4, Bytes(4000), 4), 4), 6 * 1010);
}

// 1 and 3 are children of 2, and 2 of 0. Both children share the way into 2 and
// out of it: 2000, 1000, 1000, 2000 ns and four latencies.
TEST(FlowSimulationTest, ATreeGoesUpAndDown) {
  EXPECT_EQ(EndOf(TreeAllReduce(4, Bytes(1000), 1), 4), 6040);
}

TEST(FlowSimulationTest, AllToAllIsBoundByALinkHoweverItIsOrdered) {
  EXPECT_EQ(EndOf(DirectAllToAll(5, Bytes(5000)), 5), 4010);
  EXPECT_EQ(EndOf(PairwiseAllToAll(5, Bytes(5000)), 5), 4040);
}

// Two nodes of two: a half in the node, two quarters across, a half in the node.
TEST(FlowSimulationTest, AHierarchyRunsItsPhasesInOrder) {
  EXPECT_EQ(EndOf(HierarchicalAllReduce(2, 2, Bytes(4000)), 4), 2010 + 2 * 1010 + 2010);
}

// One server takes n S / B in and n S / B out; as many servers as workers take S / B each way.
TEST(FlowSimulationTest, AServerIsBoundByItsOwnLink) {
  EXPECT_EQ(EndOf(SumByOwners(4, std::vector<double>{0, 0, 0, 0, 1000}), 5), 2 * 4010);
  const std::vector<double> quarters = {0, 0, 0, 0, 1000, 1000, 1000, 1000};
  EXPECT_EQ(EndOf(SumByOwners(4, quarters), 8), 2 * 4010);
}

// a: 0 -> 1 and b: 0 -> 2 share the way out of 0; b starts later.
TEST(FlowSimulationTest, PatternsThatShareALinkSlowEachOther) {
  Star star(3);
  FlowSimulation simulation(star.network());
  const MessagePattern message = SendReceive(Bytes(1000));
  const LinkId out = star.out(0);
  const std::vector<RouteId> route = star.Routes(message);
  simulation.Start(1, message, route, 0_ns);
  simulation.Start(2, message, route, 500_ns);
  EXPECT_EQ(simulation.Advance(Duration::Max())[0], 1);
  EXPECT_EQ(simulation.now(), 1510_ns);
  EXPECT_EQ(simulation.Advance(Duration::Max())[0], 2);
  EXPECT_EQ(simulation.now(), 2010_ns);
  EXPECT_EQ(star.network()->Use(out).bytes, 2000);
}

TEST(FlowSimulationTest, ADriverStartsWhatWaitedForAnEnd) {
  Star star(2);
  FlowSimulation simulation(star.network());
  const MessagePattern message = SendReceive(Bytes(1000));
  const std::vector<RouteId> route = star.Routes(message);
  simulation.StartTimer(1, 700_ns);
  EXPECT_EQ(simulation.NextTime(), 700_ns);
  EXPECT_TRUE(simulation.Advance(600_ns).empty());
  EXPECT_EQ(simulation.now(), 600_ns);
  ASSERT_EQ(simulation.Advance(Duration::Max())[0], 1);
  simulation.Start(2, message, route, simulation.now());
  EXPECT_TRUE(simulation.Advance(1_us).empty());
  simulation.StartTimer(3, 1200_ns);  // earlier than the message that is in flight
  EXPECT_EQ(simulation.Advance(Duration::Max())[0], 3);
  EXPECT_EQ(simulation.Advance(Duration::Max())[0], 2);
  EXPECT_EQ(simulation.now(), 1710_ns);
}

// A ring whose slowest link does half the rate from the start: every step waits
// for it, because a rank passes on what it has received.
TEST(FlowSimulationTest, ASlowLinkSlowsTheRing) {
  Star star(4);
  FlowSimulation simulation(star.network());
  const MessagePattern ring = RingAllReduce(4, Bytes(4000));
  const std::vector<RouteId> routes = star.Routes(ring);
  simulation.ChangeCapacity(star.out(2), Bandwidth(0.5e9), 0_ns);
  simulation.Start(0, ring, routes, 0_ns);
  simulation.Advance(Duration::Max());
  EXPECT_EQ(simulation.now().ns(), 6 * 2010);
}

TEST(FlowSimulationTest, ABrokenLinkStallsUntilItIsRepaired) {
  Star star(2);
  FlowSimulation simulation(star.network());
  const MessagePattern message = SendReceive(Bytes(1000));
  const std::vector<RouteId> route = star.Routes(message);
  simulation.Start(0, message, route, 0_ns);
  simulation.ChangeCapacity(star.out(0), Bandwidth(0), 510_ns);
  EXPECT_TRUE(simulation.Advance(Duration::Max()).empty());
  EXPECT_EQ(simulation.running(), 1);
  simulation.ChangeCapacity(star.out(0), kGigabyte, 2_us);
  EXPECT_EQ(simulation.Advance(Duration::Max()).size(), 1u);
  EXPECT_EQ(simulation.now(), 2500_ns);
}

TEST(FlowSimulationTest, APatternOfOneRankEndsWhenItStarts) {
  Star star(1);
  FlowSimulation simulation(star.network());
  const MessagePattern nothing = RingAllReduce(1, Bytes(1000));
  simulation.Start(5, nothing, {}, 40_ns);
  EXPECT_EQ(simulation.Advance(Duration::Max())[0], 5);
  EXPECT_EQ(simulation.now(), 40_ns);
}

}  // namespace
}  // namespace stagecraft
