#include "tools/validation/row_memory.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

MeasuredRow RowWith(const std::string& flags) {
  MeasuredRow row;
  row.stack = "megatron-core";
  row.notes = "last rank; flags: " + flags + "; deterministic-mode";
  return row;
}

TEST(RowMemoryTest, FlagsAreWordsOfTheirOwn) {
  const MeasuredRow row = RowWith("swiglu bf16 ffn-hidden-size=10240 cp-comm-type=a2a");
  EXPECT_TRUE(HasFlag(row, "swiglu"));
  EXPECT_TRUE(HasFlag(row, "ffn-hidden-size"));
  EXPECT_TRUE(HasFlag(row, "cp-comm-type=a2a"));
  EXPECT_FALSE(HasFlag(row, "hidden-size"));
  EXPECT_FALSE(HasFlag(row, "ffn-hidden-size=1"));
  // Beyond the flags.
  EXPECT_FALSE(HasFlag(row, "deterministic-mode"));
  EXPECT_FALSE(HasFlag(MeasuredRow(), "swiglu"));
}

TEST(RowMemoryTest, DeterministicProductsHaveEightWorkspacesOfFourMebibytes) {
  EXPECT_EQ(RowFramework(RowWith("bf16")).blas_workspace, Bytes());
  EXPECT_EQ(RowFramework(RowWith("deterministic-mode")).blas_workspace, Bytes(32 << 20));
}

TEST(RowMemoryTest, LocalLayersKeepTheirScores) {
  MeasuredRow row = RowWith("transformer-impl=local");
  row.attention_backend = "unfused";
  EXPECT_TRUE(HasLocalLayers(row));
  EXPECT_TRUE(RowFramework(row).keeps_score_buffer);
  row = RowWith("transformer-impl=transformer_engine");
  row.attention_backend = "unfused";
  EXPECT_FALSE(HasLocalLayers(row));
  EXPECT_FALSE(RowFramework(row).keeps_score_buffer);
  EXPECT_TRUE(RowFramework(row).has_transformer_engine);
}

TEST(RowMemoryTest, OtherStacksArePlainPyTorch) {
  MeasuredRow row = RowWith("deterministic-mode transformer-impl=transformer_engine");
  row.stack = "deepspeed";
  EXPECT_FALSE(RowFramework(row).has_transformer_engine);
  EXPECT_FALSE(RowFramework(row).makes_attention_mask);
}

}  // namespace
}  // namespace stagecraft
