// A sweep of made-up devices, and its table.
#include "tools/profile/collective_sweep.h"

#include <gtest/gtest.h>

#include <map>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/network_sample.h"
#include "runtime/profile/fake_timer.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

class CollectiveSweepTest : public testing::Test {
 protected:
  CollectiveSweep Sweep() {
    return SweepCollectives(timer_, ParseCluster("h200-sxm:1x4"), request_, clock_,
                            [](const ProfileProgress&) {});
  }

  FakeClock clock_;
  // Every collective has a latency of 10 us and a bandwidth of 100 GB/s.
  FakeTimer timer_{
      [](const ProfileCase& one, int) { return 10_us + one.op.bytes / Bandwidth(100e9); }, &clock_};
  ProfileRequest request_;
};

TEST_F(CollectiveSweepTest, TheTableIsReadAsMeasuredCollectives) {
  request_.suite = SuiteSize::kFull;
  const CollectiveSweep sweep = Sweep();
  EXPECT_EQ(sweep.report.gpu, "h200-sxm5-141gb");
  EXPECT_EQ(sweep.report.cases, 2u * 6 * 21);
  EXPECT_EQ(sweep.report.outcome.measured, sweep.report.cases);
  const CollectiveTable table = ParseCollectiveTable(sweep.text, "sweep.csv");
  ASSERT_EQ(table.samples.size(), sweep.report.cases);
  EXPECT_EQ(table.invalid, 0);
  const Cluster cluster = ParseCluster("h200-sxm:1x4");
  std::map<std::pair<OpKind, int>, int> points;
  for (const NetworkSample& sample : table.samples) {
    ++points[{sample.op.kind, sample.op.fabric.ranks}];
    EXPECT_EQ(sample.gpu, "h200-sxm5-141gb");
    EXPECT_EQ(sample.site, table.samples[0].site);
    EXPECT_EQ(sample.timing, Timing::kCollective);
    EXPECT_EQ(sample.time, 10_us + sample.op.bytes / Bandwidth(100e9));
    if (sample.op.fabric.ranks == 4) {
      EXPECT_EQ(sample.op.fabric, cluster.DescribeGroup(std::vector{0, 1, 2, 3}));
    }
  }
  EXPECT_EQ(points.size(), 12u);
  for (const auto& [group, count] : points) EXPECT_EQ(count, 21);
  EXPECT_EQ(table.samples[0].dtype, "fp32");
  EXPECT_EQ(table.samples[0].op.bytes, Bytes(1024));
  EXPECT_EQ(table.samples[1].op.bytes, Bytes(2048));
}

TEST_F(CollectiveSweepTest, OpsThatTheBudgetLeavesAreCounted) {
  request_.budget = 500_ms;
  const CollectiveSweep sweep = Sweep();
  EXPECT_GT(sweep.report.outcome.measured, 0u);
  EXPECT_GT(sweep.report.outcome.left, 0u);
  EXPECT_EQ(ParseCollectiveTable(sweep.text, "sweep.csv").samples.size(),
            sweep.report.outcome.measured);
}

TEST_F(CollectiveSweepTest, TheSameSeedGivesTheSameTable) {
  const std::string first = Sweep().text;
  EXPECT_EQ(Sweep().text, first);
}

}  // namespace
}  // namespace stagecraft
