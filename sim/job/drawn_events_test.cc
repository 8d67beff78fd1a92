#include "sim/job/drawn_events.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

using What = ClusterEvent::What;
using Kind = EventTarget::Kind;

std::vector<ClusterEvent> Draw(const EventRates& rates, const Cluster& cluster, int count,
                               uint64_t seed = 1, int nodes_per_rack = 0) {
  const Racks racks(cluster, nodes_per_rack);
  DrawnEvents drawn(rates, cluster, racks, Random(seed));
  std::vector<ClusterEvent> events;
  Duration last;
  while (static_cast<int>(events.size()) < count && drawn.NextTime() < Duration::Max()) {
    EXPECT_GE(drawn.NextTime(), last);
    last = drawn.NextTime();
    if (const auto event = drawn.Pop()) {
      EXPECT_EQ(event->at, last);
      events.push_back(*event);
    }
  }
  return events;
}

TEST(DrawnEventsTest, WithoutRatesNothingHappens) {
  EXPECT_TRUE(Draw({}, SwitchedNodes(2), 10).empty());
  EXPECT_EQ(MeanTimeBetweenFailures({}, SwitchedNodes(2)), Duration::Max());
}

TEST(DrawnEventsTest, RatesOfDevicesAndNodesAdd) {
  EventRates rates;
  rates.device_kinds = {{"gpu", Seconds(1600)}};
  EXPECT_EQ(MeanTimeBetweenFailures(rates, SwitchedNodes(2)), Seconds(100));
  rates.node_mtbf = Seconds(200);
  EXPECT_EQ(MeanTimeBetweenFailures(rates, SwitchedNodes(2)), Seconds(50));
}

TEST(DrawnEventsTest, KindsOfDevicesFailAtTheirOwnRates) {
  NodeType other = Switched();
  other.device.id = "other";
  const Cluster cluster("mixed", {{Switched(), 1}, {other, 1}});
  EventRates rates;
  rates.device_kinds = {{"gpu", Seconds(3000)}, {"", Seconds(1000)}};
  int first_kind = 0;
  constexpr int kEvents = 4000;
  for (const ClusterEvent& event : Draw(rates, cluster, 2 * kEvents)) {
    if (event.what == What::kFail && event.target.index < 8) ++first_kind;
  }
  // A quarter, within three standard errors.
  EXPECT_NEAR(first_kind, kEvents / 4.0, 3 * std::sqrt(kEvents * 0.25 * 0.75));
}

TEST(DrawnEventsTest, TimesBetweenFailuresAreExponential) {
  EventRates rates;
  rates.device_kinds = {{"", Seconds(1600)}};
  double last = 0, sum = 0, squares = 0;
  int count = 0;
  for (const ClusterEvent& event : Draw(rates, SwitchedNodes(2), 20000)) {
    if (event.what != What::kFail) continue;
    const double gap = event.at.seconds() - last;
    last = event.at.seconds();
    sum += gap;
    squares += gap * gap;
    ++count;
  }
  EXPECT_NEAR(sum / count, 100, 3 * 100 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 2 * 100 * 100, 3 * std::sqrt(20.0) * 100 * 100 / std::sqrt(count));
}

TEST(DrawnEventsTest, EveryFailureRecoversAfterItsRepair) {
  EventRates rates;
  rates.device_kinds = {{"", Seconds(1600)}};
  rates.repair = Seconds(30);
  std::map<EventTarget, Duration> failed;
  for (const ClusterEvent& event : Draw(rates, SwitchedNodes(2), 1000)) {
    if (event.what == What::kFail) {
      EXPECT_TRUE(failed.emplace(event.target, event.at).second);  // It was not down.
    } else {
      EXPECT_EQ(event.at, failed.at(event.target) + Seconds(30));
      failed.erase(event.target);
    }
  }
  rates.repair_time = EventRates::RepairTime::kExponential;
  double sum = 0;
  int count = 0;
  failed.clear();
  for (const ClusterEvent& event : Draw(rates, SwitchedNodes(2), 20000)) {
    if (event.what == What::kFail) {
      failed[event.target] = event.at;
    } else {
      sum += (event.at - failed.at(event.target)).seconds();
      ++count;
    }
  }
  EXPECT_NEAR(sum / count, 30, 3 * 30 / std::sqrt(count));
}

TEST(DrawnEventsTest, AShareOfFailuresTakesTheRack) {
  EventRates rates;
  rates.device_kinds = {{"", Seconds(3200)}};
  rates.rack_probability = 0.25;
  int racks = 0, failures = 0;
  for (const ClusterEvent& event : Draw(rates, SwitchedNodes(4), 8000, 1, 2)) {
    if (event.what != What::kFail) continue;
    ++failures;
    if (event.target.kind == Kind::kRack) ++racks;
  }
  EXPECT_NEAR(racks, failures / 4.0, 3 * std::sqrt(failures * 0.25 * 0.75));
}

TEST(DrawnEventsTest, SlowDevicesHaveTheirShares) {
  EventRates rates;
  rates.slow = {{0.01, 0.5}, {0.03, 0.9}};
  const Cluster cluster = SwitchedNodes(2048);
  std::map<double, int> counts;
  std::set<int> devices;
  for (const ClusterEvent& event : Draw(rates, cluster, 100000)) {
    EXPECT_EQ(event.what, What::kSlow);
    EXPECT_TRUE(devices.insert(event.target.index).second);
    ++counts[event.rate];
  }
  const int all = cluster.device_count();
  EXPECT_NEAR(counts[0.5], all * 0.01, 3 * std::sqrt(all * 0.01));
  EXPECT_NEAR(counts[0.9], all * 0.03, 3 * std::sqrt(all * 0.03));
  EXPECT_LT(*devices.begin(), 200);
  EXPECT_GT(*devices.rbegin(), all - 200);
  rates.slow = {{1, 0.5}};
  EXPECT_EQ(Draw(rates, cluster, 100000).size(), static_cast<size_t>(all));
}

TEST(DrawnEventsTest, TheSeedDecides) {
  EventRates rates;
  rates.device_kinds = {{"", Seconds(1600)}};
  const Cluster cluster = SwitchedNodes(2);
  const auto first = Draw(rates, cluster, 5, 1);
  EXPECT_EQ(first[0].at, Draw(rates, cluster, 5, 1)[0].at);
  EXPECT_NE(first[0].at, Draw(rates, cluster, 5, 2)[0].at);
}

// The old and the new node fail about 100 s apart. Between their repairs, the new one is down.
TEST(DrawnEventsTest, TheRepairOfAReplacedNodeIsNotThatOfTheNewOne) {
  EventRates rates;
  rates.node_mtbf = Seconds(100);
  rates.repair = Seconds(1e5);
  const Cluster cluster = SwitchedNodes(1);
  const Racks racks(cluster, 0);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    DrawnEvents drawn(rates, cluster, racks, Random(seed));
    std::vector<What> happened = {drawn.Pop()->what};
    drawn.Replace(0);
    while (happened.size() < 4) {
      if (const auto event = drawn.Pop()) happened.push_back(event->what);
    }
    EXPECT_EQ(happened,
              (std::vector<What>{What::kFail, What::kFail, What::kRecover, What::kRecover}));
  }
}

TEST(DrawnEventsTest, ANodeThatWasReplacedCanFail) {
  EventRates rates;
  rates.node_mtbf = Seconds(100);
  rates.repair = Seconds(1e5);
  const Cluster cluster = SwitchedNodes(1);
  EXPECT_EQ(Draw(rates, cluster, 2)[1].what, What::kRecover);  // Nothing else happens meanwhile.
  const Racks racks(cluster, 0);
  DrawnEvents drawn(rates, cluster, racks, Random(1));
  for (int i = 0; i < 10; ++i) {
    const auto event = drawn.Pop();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->what, What::kFail);
    drawn.Replace(0);
  }
}

}  // namespace
}  // namespace stagecraft
