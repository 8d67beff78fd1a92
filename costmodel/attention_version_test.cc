#include "costmodel/attention_version.h"

#include <gtest/gtest.h>

#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

double Slowness(AttentionKernel kernel, const char* gpu, Direction direction) {
  Op op = Op::Attention(DType::kBf16, direction, 32, 2048, 2048, 128, true);
  op.attention_kernel = kernel;
  return VersionSlowness(op, DeviceCatalogue::Embedded().Get(gpu, "test").device);
}

TEST(AttentionVersionTest, AnOlderVersionIsSlower) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (const char* gpu : {"a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"}) {
      const double one = Slowness(AttentionKernel::kFlash1, gpu, direction);
      const double two = Slowness(AttentionKernel::kFlash2, gpu, direction);
      EXPECT_GT(one, two) << gpu;
      EXPECT_GE(two, 1) << gpu;
      for (const AttentionKernel newest :
           {AttentionKernel::kUsual, AttentionKernel::kFlash, AttentionKernel::kFlash3,
            AttentionKernel::kCudnn, AttentionKernel::kFused, AttentionKernel::kTriton}) {
        EXPECT_EQ(Slowness(newest, gpu, direction), 1) << gpu;
      }
    }
    EXPECT_EQ(Slowness(AttentionKernel::kFlash2, "a100-sxm4-80gb", direction), 1);
    EXPECT_GT(Slowness(AttentionKernel::kFlash2, "h100-sxm5-80gb", direction), 1.5);
  }
}

TEST(AttentionVersionTest, GenerationsRunWhatWasWrittenForThem) {
  EXPECT_TRUE(RunsOn(AttentionKernel::kFlash1, Generation::kTuring));
  EXPECT_FALSE(RunsOn(AttentionKernel::kFlash1, Generation::kVolta));
  EXPECT_FALSE(RunsOn(AttentionKernel::kFlash2, Generation::kTuring));
  EXPECT_TRUE(RunsOn(AttentionKernel::kFlash2, Generation::kBlackwell));
  EXPECT_TRUE(RunsOn(AttentionKernel::kFlash3, Generation::kHopper));
  EXPECT_FALSE(RunsOn(AttentionKernel::kFlash3, Generation::kAmpere));
  EXPECT_FALSE(RunsOn(AttentionKernel::kFlash3, Generation::kBlackwell));
  EXPECT_TRUE(RunsOn(AttentionKernel::kFlash2, Generation::kCdna3));
  for (const Generation generation : {Generation::kCdna3, Generation::kGaudi, Generation::kHost}) {
    EXPECT_FALSE(RunsOn(AttentionKernel::kFlash1, generation));
    EXPECT_FALSE(RunsOn(AttentionKernel::kCudnn, generation));
  }
  EXPECT_FALSE(RunsOn(AttentionKernel::kCudnn, Generation::kVolta));
  EXPECT_TRUE(RunsOn(AttentionKernel::kCudnn, Generation::kAmpere));
  EXPECT_TRUE(RunsOn(AttentionKernel::kUsual, Generation::kKepler));
}

}  // namespace
}  // namespace stagecraft
