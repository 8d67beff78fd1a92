#include "costmodel/learned/sampled_sizes.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

Op Product(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  return Op::Gemm(DType::kBf16, m, n, k, batch);
}

SampledSizes Sampled() {
  SampledSizes sizes;
  sizes.Add(Product(1, 64, 128));
  sizes.Add(Product(1024, 4096, 8192));
  return sizes;
}

TEST(SampledSizesTest, TheSizeThatIsFurthestOutsideCounts) {
  EXPECT_EQ(Sampled().DoublingsBeyond(Product(1, 4096, 128)), 0);
  EXPECT_EQ(Sampled().DoublingsBeyond(Product(4096, 4096, 128)), 2);
  EXPECT_EQ(Sampled().DoublingsBeyond(Product(4096, 8, 128)), 3);
}

TEST(SampledSizesTest, ASizeThatDidNotVaryDoesNotCount) {
  EXPECT_EQ(Sampled().DoublingsBeyond(Product(1024, 64, 128, 4096)), 0);
  EXPECT_EQ(SampledSizes().DoublingsBeyond(Product(1 << 20, 64, 128)), 0);
}

TEST(SampledSizesTest, ProtosKeepThem) {
  FamilyModelProto proto;
  Sampled().AddTo(proto);
  const SampledSizes read = SampledSizes::FromProto(proto, "m");
  EXPECT_EQ(read.DoublingsBeyond(Product(4096, 8, 128)), 3);
  proto.set_least_log2_size(1, 40);
  EXPECT_THROW(SampledSizes::FromProto(proto, "m"), InputError);
  proto.set_least_log2_size(1, 0);
  proto.add_most_log2_size(1);
  EXPECT_THROW(SampledSizes::FromProto(proto, "m"), InputError);
  proto.clear_most_log2_size();
  EXPECT_THROW(SampledSizes::FromProto(proto, "m"), InputError);
  EXPECT_EQ(SampledSizes::FromProto({}, "m").DoublingsBeyond(Product(4096, 8, 128)), 0);
}

}  // namespace
}  // namespace stagecraft
