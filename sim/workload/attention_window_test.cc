#include "sim/workload/attention_window.h"

#include <gtest/gtest.h>

#include "sim/workload/layer_gradients.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

// Over all keys if there are none.
Operator Attention(int64_t keys, WindowKind kind = WindowKind::kSliding) {
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .causal = true};
  if (keys > 0) SetWindow(keys, kind, op);
  return op;
}

// 8 queries see 8²/2 = 32 pairs in all. A window of 4 leaves out (8 - 4)²/2 = 8 of these, so that
// 24 pairs are left, which are 3 for each query.
TEST(AttentionWindowTest, ASlidingWindowLeavesOutTheTriangleBeforeIt) {
  EXPECT_EQ(MeanCausalKeys(Attention(4), 8), 3);
  EXPECT_EQ(MeanCausalKeys(Attention(1), 8), 1 - 1.0 / 16);
  EXPECT_EQ(MeanCausalKeys(Attention(0), 8), 4);
  EXPECT_EQ(MeanCausalKeys(Attention(8), 8), 4);
  EXPECT_EQ(MeanCausalKeys(Attention(100), 8), 4);
}

// 8 tokens are two chunks of 4, each half of 4·4; 10 tokens have half of 2·2 more.
TEST(AttentionWindowTest, ChunksSeeThemselvesAlone) {
  EXPECT_EQ(MeanCausalKeys(Attention(4, WindowKind::kChunked), 8), 2);
  EXPECT_EQ(MeanCausalKeys(Attention(4, WindowKind::kChunked), 10), (8 + 8 + 2) / 10.0);
  EXPECT_EQ(MeanCausalKeys(Attention(4, WindowKind::kChunked), 4), 2);
  EXPECT_EQ(MeanCausalKeys(Attention(4, WindowKind::kChunked), 3), 1.5);
}

// An operator may say how many rows of keys there are. 6 of them are 3 on average, and with a
// window of 2 they are 2 - 2²/(2·6).
TEST(AttentionWindowTest, FlopsAreThoseOfTheKeysThatAnOperatorSays) {
  Operator all = Attention(0);
  all.heads = all.kv_heads = all.head_size = 1;
  all.keys = 6;
  EXPECT_DOUBLE_EQ(ForwardFlopsPerToken(all, 8), 4 * 3.0);
  Operator window = all;
  SetWindow(2, WindowKind::kSliding, window);
  EXPECT_DOUBLE_EQ(ForwardFlopsPerToken(window, 8), 4 * (2 - 4.0 / 12));
  EXPECT_EQ(MeanCausalKeys(all, 0), 0);
  EXPECT_EQ(MeanCausalKeys(window, 0), 0);
}

TEST(AttentionWindowTest, OnlyCausalAttentionHasAWindow) {
  EXPECT_TRUE(HasWindow(Attention(4), 8));
  EXPECT_FALSE(HasWindow(Attention(8), 8));
  EXPECT_FALSE(HasWindow(Attention(0), 8));
  Operator crossing = Attention(4);
  crossing.causal = false;
  EXPECT_FALSE(HasWindow(crossing, 8));
}

}  // namespace
}  // namespace stagecraft
