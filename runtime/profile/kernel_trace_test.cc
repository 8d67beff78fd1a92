#include "runtime/profile/kernel_trace.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

// [a 4us] 2us [b 1us] 1us [a 6us], recorded out of order.
TEST(KernelTraceTest, KernelsHaveTheirMeanTimesAndTheGapsBeforeThem) {
  const KernelRun runs[] = {{"a", 18_us, 24_us}, {"a", 10_us, 14_us}, {"b", 16_us, 17_us}};
  const std::vector<KernelSummary> summaries = SummariseKernels(runs);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].name, "a");
  EXPECT_EQ(summaries[0].runs, 2);
  EXPECT_EQ(summaries[0].time, 5_us);
  EXPECT_EQ(summaries[0].gap, 1_us);  // only the second run of "a" follows another kernel
  EXPECT_EQ(summaries[1].name, "b");
  EXPECT_EQ(summaries[1].time, 1_us);
  EXPECT_EQ(summaries[1].gap, 2_us);
}

// [a 9us          ]
//    [b 1us] [c 1us]   c ends as a does
TEST(KernelTraceTest, KernelsSideBySideLeaveNoGap) {
  const KernelRun runs[] = {{"a", 0_us, 9_us}, {"b", 1_us, 2_us}, {"c", 8_us, 9_us}};
  for (const KernelSummary& summary : SummariseKernels(runs)) {
    EXPECT_EQ(summary.gap, Duration()) << summary.name;
  }
}

TEST(KernelTraceTest, NoKernelsHaveNoSummary) { EXPECT_TRUE(SummariseKernels({}).empty()); }

}  // namespace
}  // namespace stagecraft
