#include "tools/board_name.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(BoardNameTest, AnotherModelIsAnotherBoard) {
  EXPECT_FALSE(IsAnotherBoard("A100-SXM4-40GB", "a100-sxm4-40gb"));
  EXPECT_TRUE(IsAnotherBoard("A100-SXM4-40GB", "h100-sxm5-80gb"));
  EXPECT_TRUE(IsAnotherBoard("NVIDIA A10", "a100-sxm4-40gb"));
  EXPECT_FALSE(IsAnotherBoard("NVIDIA GeForce RTX 2080 Ti", "rtx2080ti-11gb"));
  EXPECT_TRUE(IsAnotherBoard("NVIDIA GeForce RTX 2080 Ti", "rtx2080-8gb"));
}

TEST(BoardNameTest, FormsDifferWhereBothAreStated) {
  EXPECT_TRUE(IsAnotherBoard("NVIDIA A100 80GB PCIe", "a100-sxm4-80gb"));
  EXPECT_TRUE(IsAnotherBoard("NVIDIA H100 NVL", "h100-pcie-80gb"));
  EXPECT_FALSE(IsAnotherBoard("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"));
}

TEST(BoardNameTest, MemoryAndUnknownNamesSayNothing) {
  EXPECT_FALSE(IsAnotherBoard("A100-SXM4-40GB", "a100-sxm4-80gb"));
  EXPECT_FALSE(IsAnotherBoard("Graphics Device", "h100-sxm5-80gb"));
  EXPECT_FALSE(IsAnotherBoard("", "h100-sxm5-80gb"));
}

}  // namespace
}  // namespace stagecraft
