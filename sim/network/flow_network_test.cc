#include "sim/network/flow_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr Bandwidth kGigabyte(1e9);  // a second: one byte a nanosecond

using Ends = std::vector<std::pair<int64_t, int64_t>>;  // (tag, nanosecond)

// Runs until nothing more happens, or to `limit`.
Ends Drain(FlowNetwork* network, Duration limit = Duration::Max()) {
  Ends ends;
  while (network->NextTime() < Duration::Max() && network->NextTime() <= limit) {
    const Duration time = network->NextTime();
    for (const int64_t tag : network->AdvanceTo(time)) ends.emplace_back(tag, time.ns());
  }
  if (limit < Duration::Max()) network->AdvanceTo(limit);
  return ends;
}

// 1000 bytes at one byte a nanosecond, after 50 ns
TEST(FlowNetworkTest, AFlowTakesItsLatencyAndThenItsBytes) {
  FlowNetwork network;
  const RouteId route = network.AddRoute(std::vector<LinkId>{network.AddLink(kGigabyte, 50_ns)});
  network.Start(route, 1000, 7);
  EXPECT_EQ(Drain(&network), (Ends{{7, 1050}}));
}

TEST(FlowNetworkTest, LatenciesOfARouteAddUpAndDelayComesFirst) {
  FlowNetwork network;
  const LinkId near = network.AddLink(kGigabyte, 50_ns);
  const LinkId far = network.AddLink(4 * kGigabyte, 20_ns);
  network.Start(network.AddRoute(std::vector<LinkId>{near, far}), 1000, 0, {5_ns});
  EXPECT_EQ(Drain(&network), (Ends{{0, 1075}}));
}

// flow 0: 0 ---- alone ---- 500 -- half -- 1500    (500 + 1000 / 2 = 1000 bytes)
// flow 1:                   500 -- half -- 1500 -- alone -- 2000
TEST(FlowNetworkTest, FlowsShareALinkWhileBothAreOnIt) {
  FlowNetwork network;
  const LinkId link = network.AddLink(kGigabyte, 0_ns);
  const RouteId route = network.AddRoute(std::vector<LinkId>{link});
  network.Start(route, 1000, 0);
  network.Start(route, 1000, 1, {500_ns});
  EXPECT_EQ(Drain(&network), (Ends{{0, 1500}, {1, 2000}}));
  EXPECT_EQ(network.Use(link).bytes, 2000);
  EXPECT_EQ(network.Use(link).busy, 2_us);
  EXPECT_EQ(network.Use(link).full, 2_us);
}

TEST(FlowNetworkTest, ACapSlowsOneFlowAndLeavesTheRest) {
  FlowNetwork network;
  const LinkId link = network.AddLink(kGigabyte, 0_ns);
  const RouteId route = network.AddRoute(std::vector<LinkId>{link});
  network.Start(route, 1000, 0, {0_ns, Bandwidth(0.25e9)});
  network.Start(route, 750, 1);
  EXPECT_EQ(Drain(&network), (Ends{{1, 1000}, {0, 4000}}));
  EXPECT_EQ(network.Use(link).full, 1_us);
  EXPECT_EQ(network.Use(link).busy, 4_us);
}

TEST(FlowNetworkTest, NoBytesTakeTheLatencyAndNoShare) {
  FlowNetwork network;
  const RouteId route = network.AddRoute(std::vector<LinkId>{network.AddLink(kGigabyte, 10_ns)});
  network.Start(route, 0, 0);
  network.Start(network.AddRoute({}), 1000, 1, {3_ns});
  EXPECT_EQ(Drain(&network), (Ends{{1, 3}, {0, 10}}));
}

// 1000 bytes: 400 until the link slows to a quarter, 100 until it breaks, 500 after repair
TEST(FlowNetworkTest, ALinkSlowsDownBreaksAndIsRepaired) {
  FlowNetwork network;
  const LinkId link = network.AddLink(kGigabyte, 0_ns);
  network.Start(network.AddRoute(std::vector<LinkId>{link}), 1000, 0);
  EXPECT_TRUE(Drain(&network, 400_ns).empty());
  network.SetCapacity(link, Bandwidth(0.25e9));
  EXPECT_TRUE(Drain(&network, 800_ns).empty());
  network.SetCapacity(link, Bandwidth(0));
  EXPECT_TRUE(Drain(&network, 5_us).empty());
  EXPECT_EQ(network.NextTime(), Duration::Max());
  EXPECT_EQ(network.Use(link).bytes, 500);
  network.SetCapacity(link, kGigabyte);
  EXPECT_EQ(Drain(&network), (Ends{{0, 5500}}));
  EXPECT_EQ(network.Use(link).busy.ns(), 5500);
}

TEST(FlowNetworkTest, AnEarlierFlowMayStartAfterTheNextTimeWasAsked) {
  FlowNetwork network;
  const RouteId route = network.AddRoute(std::vector<LinkId>{network.AddLink(kGigabyte, 0_ns)});
  network.Start(route, 10, 0, {900_ns});
  EXPECT_EQ(network.NextTime(), 900_ns);
  network.AdvanceTo(100_ns);
  network.Start(route, 10, 1);
  EXPECT_EQ(Drain(&network), (Ends{{1, 110}, {0, 910}}));
}

// The result of random flows on a random network.
struct RandomRun {
  Ends ends;
  std::vector<double> expected_bytes, bytes;  // by link
};

RandomRun RunRandom(uint64_t seed) {
  Random random(seed);
  FlowNetwork network;
  RandomRun run;
  const int64_t links = random.Integer(3, 20);
  for (int link = 0; link < links; ++link) {
    const double rate = 1e9 * (1 + 9 * random.Uniform());
    network.AddLink(Bandwidth(rate), Duration::Nanoseconds(random.Integer(0, 500)));
  }
  run.expected_bytes.assign(links, 0);
  for (int tag = 0; tag < 100; ++tag) {
    std::vector<LinkId> route;
    for (LinkId link = 0; link < links; ++link) {
      if (random.Integer(0, 4) == 0) route.push_back(link);
    }
    const double bytes = std::exp(14 * random.Uniform());
    for (const LinkId link : route) run.expected_bytes[link] += bytes;
    const Duration delay = Duration::Nanoseconds(random.Integer(0, 200000));
    network.Start(network.AddRoute(route), bytes, tag, {delay});
  }
  run.ends = Drain(&network);
  for (LinkId link = 0; link < links; ++link) run.bytes.push_back(network.Use(link).bytes);
  return run;
}

TEST(FlowNetworkTest, LinksCarryTheBytesOfTheirFlowsAndEveryFlowEnds) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const RandomRun run = RunRandom(seed);
    EXPECT_EQ(run.ends.size(), 100u);
    for (size_t link = 0; link < run.bytes.size(); ++link) {
      EXPECT_NEAR(run.bytes[link], run.expected_bytes[link], 1e-9 * run.expected_bytes[link]);
    }
    EXPECT_EQ(run.ends, RunRandom(seed).ends);
  }
}

TEST(FlowNetworkTest, HalfwayLinksHaveCarriedWhatTheirRatesSay) {
  FlowNetwork network;
  const LinkId link = network.AddLink(kGigabyte, 0_ns);
  const RouteId route = network.AddRoute(std::vector<LinkId>{link});
  for (int tag = 0; tag < 4; ++tag) network.Start(route, 1000, tag);
  Drain(&network, 1_us);
  EXPECT_EQ(network.Rates(link), std::vector<double>(4, 0.25e9));
  EXPECT_EQ(network.Use(link).bytes, 1000);
  EXPECT_EQ(network.Use(link).full, 1_us);
}

}  // namespace
}  // namespace stagecraft
