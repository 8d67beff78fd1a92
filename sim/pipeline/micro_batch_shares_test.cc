#include "sim/pipeline/micro_batch_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stagecraft {
namespace {

// The replica of every micro-batch, after which of its own it is: "0.0 1.0 0.1".
std::string Text(const MicroBatchShares& shares, int micro_batches) {
  std::string text;
  for (int b = 0; b < micro_batches; ++b) {
    const MicroBatchShares::Position at = shares.Find(b);
    EXPECT_EQ(shares.MicroBatch(at.replica, at.own), b);
    text += (b > 0 ? " " : "") + std::to_string(at.replica) + "." + std::to_string(at.own);
  }
  return text;
}

TEST(MicroBatchSharesTest, EqualCountsAreTakenInTurn) {
  const MicroBatchShares shares(std::vector<int>{2, 2, 2});
  EXPECT_EQ(Text(shares, 6), "0.0 1.0 2.0 0.1 1.1 2.1");
  EXPECT_EQ(Text(shares, 6), Text(MicroBatchShares(6, 3), 6));
  for (int replica = 0; replica < 3; ++replica) EXPECT_EQ(shares.Count(replica), 2);
}

// The micro-batches of the second replica come when 1/6, 1/2 and 5/6 of the step are over, that of
// the first when 1/2 is.
TEST(MicroBatchSharesTest, UnequalCountsAreSpreadOverTheStep) {
  const MicroBatchShares shares(std::vector<int>{1, 3});
  EXPECT_EQ(Text(shares, 4), "1.0 0.0 1.1 1.2");
  EXPECT_EQ(shares.Count(0), 1);
  EXPECT_EQ(shares.Count(1), 3);
}

}  // namespace
}  // namespace stagecraft
