#include "sim/pipeline/order_period.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "costmodel/divide.h"
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
  PipelineScheduleOptions alone, pairs;
  pairs.pairs_passes = true;
  for (const auto& [schedule, options] :
       {std::pair(PipelineSchedule::kOneForwardOneBackward, alone),
        {PipelineSchedule::kOneForwardOneBackward, pairs},
        {PipelineSchedule::kInterleaved, alone},
        {PipelineSchedule::kInterleaved, pairs}}) {
    for (const int stages : {2, 3, 4}) {
      const ChunkMap map = ChunkMap::Looped(stages, LeastChunks(schedule));
      const std::optional<OrderPeriod> period = FindPeriod(schedule, options, stages);
      ASSERT_TRUE(period);
      const auto unit = static_cast<int>(period->unit);
      for (const int64_t least : {period->first, period->least}) {
        const auto count = static_cast<int>(DivideUp(least, period->unit) * period->unit);
        const PassOrders shorter = MakePassOrders(schedule, options, map, count, nullptr);
        const PassOrders longer = MakePassOrders(schedule, options, map, count + unit, nullptr);
        for (int stage = 0; stage < stages; ++stage) {
          ExpectLongerInTheMiddle(shorter[stage], longer[stage], period->unit);
        }
      }
    }
  }
}

TEST(OrderPeriodTest, ALongerWarmUpTakesAPipelineMore) {
  const PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  PipelineScheduleOptions usual, dapples_second, pairs;
  dapples_second.warmup = WarmupPolicy::kB;
  pairs.pairs_passes = true;
  const int64_t least = FindPeriod(schedule, usual, 4)->least;
  EXPECT_EQ(FindPeriod(schedule, dapples_second, 4)->least, least + 4);
  EXPECT_EQ(FindPeriod(schedule, pairs, 4)->least, least + 4);
  EXPECT_EQ(FindPeriod(schedule, pairs, 4)->first, FindPeriod(schedule, usual, 4)->first + 4);
}

TEST(OrderPeriodTest, OrdersThatDoNotAlternateOrNeverEndHaveNone) {
  EXPECT_FALSE(FindPeriod(PipelineSchedule::kGpipe, {}, 4));
  EXPECT_FALSE(FindPeriod(PipelineSchedule::kPipeDream, {}, 4));
}

}  // namespace
}  // namespace stagecraft
