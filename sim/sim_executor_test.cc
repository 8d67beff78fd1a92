#include "sim/sim_executor.h"

#include <gtest/gtest.h>

#include <vector>

namespace stagecraft {
namespace {

Estimate Costs(Duration time, Duration host) {
  Estimate estimate;
  estimate.time = time;
  estimate.host = host;
  return estimate;
}

struct OneBlock {
  Schedule schedule;
  BlockId block = 0;
};

// A block of so many distinct ops.
OneBlock MakeBlock(int ops, const std::vector<uint8_t>& flags = {}) {
  Schedule::Builder builder;
  std::vector<OpId> ids;
  for (int i = 0; i < ops; ++i) ids.push_back(builder.AddOp(Op::Elementwise(Bytes(1 + i))));
  OneBlock result;
  result.block = builder.AddBlock(ids, flags);
  result.schedule = builder.Build();
  return result;
}

// host    |1 1|2 2|3 3|
// device      |1|  |2 2 2 2 2|3|     launched at 2, 4, 6 us
TEST(SimExecutorTest, ABlockIsLedByTheLaunchThatHoldsItUpMost) {
  const OneBlock b = MakeBlock(3);
  const std::vector<Estimate> estimates = {Costs(1_us, 2_us), Costs(5_us, 2_us), Costs(1_us, 2_us)};
  const BlockTimes times = TimesOf(b.schedule, b.block, estimates);
  EXPECT_EQ(times.device, 7_us);
  EXPECT_EQ(times.host, 6_us);
  EXPECT_EQ(times.FromIdle(), 10_us);
  EXPECT_EQ(times.lead, 3_us);
}

TEST(SimExecutorTest, OpsSideBySideTakeAsLongAsTheLonger) {
  const OneBlock b = MakeBlock(3, {kOverlapsNext, 0, 0});
  const std::vector<Estimate> estimates = {Costs(4_us, 0_us), Costs(3_us, 0_us), Costs(1_us, 0_us)};
  const BlockTimes times = TimesOf(b.schedule, b.block, estimates);
  EXPECT_EQ(times.device, 5_us);
  EXPECT_EQ(times.lead, 0_us);
}

}  // namespace
}  // namespace stagecraft
