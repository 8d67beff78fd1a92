#include "sim/pipeline/order_period.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/order.h"

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
  const PipelineOrder alternating[] = {PipelineOrder::kOneForwardOneBackward,
                                       PipelineOrder::kInterleaved};
  for (const PipelineOrder order : alternating) {
    for (const int stages : {2, 3, 4}) {
      const ChunkMap map = ChunkMap::Looped(stages, LeastChunks(order));
      const std::optional<OrderPeriod> period = FindPeriod(order, {}, stages);
      ASSERT_TRUE(period);
      const auto count = static_cast<int>((period->least / period->unit + 1) * period->unit);
      const PipelineOrders shorter = MakeOrders(order, {}, map, count, nullptr);
      const PipelineOrders longer =
          MakeOrders(order, {}, map, count + static_cast<int>(period->unit), nullptr);
      for (int stage = 0; stage < stages; ++stage) {
        ExpectLongerInTheMiddle(shorter[stage], longer[stage], period->unit);
      }
    }
  }
}

TEST(OrderPeriodTest, TheLongerWarmUpOfDapplesSecondPolicyTakesAPipelineMore) {
  const PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  OrderOptions options;
  const int64_t usual = FindPeriod(order, options, 4)->least;
  options.warmup = WarmupPolicy::kB;
  EXPECT_EQ(FindPeriod(order, options, 4)->least, usual + 4);
}

TEST(OrderPeriodTest, OrdersThatDoNotAlternateOrNeverEndHaveNone) {
  EXPECT_FALSE(FindPeriod(PipelineOrder::kGpipe, {}, 4));
  EXPECT_FALSE(FindPeriod(PipelineOrder::kPipeDream, {}, 4));
}

}  // namespace
}  // namespace stagecraft
