#include "sim/pipeline/order_period.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {
namespace {

// `longer` is `shorter` with `more` micro-batches in its middle.
void ExpectLongerInTheMiddle(const PassOrder& shorter, const PassOrder& longer, int64_t more) {
  const size_t middle = shorter.size() / 2;
  const size_t added = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Pass expected = shorter[i];
    if (i >= middle) expected.micro_batch += static_cast<int32_t>(more);
    ASSERT_EQ(longer[i < middle ? i : i + added], expected) << "pass " << i;
  }
}

TEST(OrderPeriodTest, OnePeriodMoreMakesOrdersLongerInTheMiddle) {
  const PipelineSchedule alternating[] = {PipelineSchedule::kOneForwardOneBackward,
                                          PipelineSchedule::kInterleaved};
  for (const PipelineSchedule schedule : alternating) {
    for (const int stages : {2, 3, 4}) {
      const ChunkMap map = ChunkMap::Looped(stages, LeastChunks(schedule));
      const std::optional<OrderPeriod> period = FindPeriod(schedule, {}, stages);
      ASSERT_TRUE(period);
      const auto count = static_cast<int>((period->least / period->unit + 1) * period->unit);
      const PassOrders shorter = MakePassOrders(schedule, {}, map, count, nullptr);
      const PassOrders longer =
          MakePassOrders(schedule, {}, map, count + static_cast<int>(period->unit), nullptr);
      for (int stage = 0; stage < stages; ++stage) {
        ExpectLongerInTheMiddle(shorter[stage], longer[stage], period->unit);
      }
    }
  }
}

TEST(OrderPeriodTest, TheLongerWarmUpOfDapplesSecondPolicyTakesAPipelineMore) {
  const PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  PipelineScheduleOptions options;
  const int64_t usual = FindPeriod(schedule, options, 4)->least;
  options.warmup = WarmupPolicy::kB;
  EXPECT_EQ(FindPeriod(schedule, options, 4)->least, usual + 4);
}

TEST(OrderPeriodTest, OrdersThatDoNotAlternateOrNeverEndHaveNone) {
  EXPECT_FALSE(FindPeriod(PipelineSchedule::kGpipe, {}, 4));
  EXPECT_FALSE(FindPeriod(PipelineSchedule::kPipeDream, {}, 4));
}

}  // namespace
}  // namespace stagecraft
