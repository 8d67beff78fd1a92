#include "costmodel/learned/training_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/learned/kernel_families.h"

namespace stagecraft {
namespace {

Sample Of(const Op& op, const std::string& gpu = "a100-sxm4-80gb", const std::string& name = "") {
  Sample sample;
  sample.op = op;
  sample.gpu = gpu;
  sample.name = name;
  sample.time = 10_us;
  return sample;
}

Op Attention(AttentionUse use) {
  Op op = Op::Attention(DType::kBf16, Direction::kForward, 8, 128, 128, 128, true);
  op.use = use;
  return op;
}

const std::vector<FitRow>& RowsOf(const std::vector<std::vector<FitRow>>& rows,
                                  const std::string& family) {
  for (size_t f = 0; f < rows.size(); ++f) {
    if (KernelFamilies()[f]->name() == family) return rows[f];
  }
  ADD_FAILURE() << family;
  return rows[0];
}

std::vector<std::vector<FitRow>> Rows(const std::vector<Sample>& samples) {
  return MakeTrainingRows(samples, CallOverhead());
}

TEST(TrainingRowsTest, ASampleIsARowOfItsFamily) {
  const std::vector<Sample> samples = {Of(Op::Gemm(DType::kBf16, 1, 2, 3))};
  const std::vector<std::vector<FitRow>> rows = Rows(samples);
  ASSERT_EQ(rows.size(), KernelFamilies().size());
  const std::vector<FitRow>& own = RowsOf(rows, "tensor_gemm");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].op, &samples[0].op);
  EXPECT_EQ(own[0].device->id, "a100-sxm4-80gb");
  EXPECT_DOUBLE_EQ(own[0].log_seconds, std::log(10e-6));
}

TEST(TrainingRowsTest, EachKindOfAttentionKernelIsAFamily) {
  const auto attention = [](AttentionKernel kernel, const char* gpu) {
    Op op = Attention(AttentionUse::kServing);
    op.attention_kernel = kernel;
    return Of(op, gpu);
  };
  const std::vector<Sample> samples = {attention(AttentionKernel::kUsual, "a100-sxm4-80gb"),
                                       attention(AttentionKernel::kUsual, "h100-sxm5-80gb"),
                                       attention(AttentionKernel::kUsual, "b200-sxm-180gb"),
                                       attention(AttentionKernel::kFlash, "b200-sxm-180gb"),
                                       attention(AttentionKernel::kTriton, "b200-sxm-180gb")};
  const std::vector<std::vector<FitRow>> rows = Rows(samples);
  EXPECT_EQ(RowsOf(rows, "attention").size(), 3u);
  ASSERT_EQ(RowsOf(rows, "fused_attention").size(), 1u);
  EXPECT_EQ(RowsOf(rows, "fused_attention")[0].op, &samples[2].op);
  EXPECT_EQ(RowsOf(rows, "triton_attention").size(), 1u);
}

TEST(TrainingRowsTest, UnknownGpusAreLeftOutAndCounted) {
  const std::vector<Sample> samples = {Of(Op::Elementwise(Bytes(1)), "abacus"),
                                       Of(Op::Elementwise(Bytes(2)), "abacus"),
                                       Of(Op::Elementwise(Bytes(3)))};
  EXPECT_EQ(RowsOf(Rows(samples), "stream").size(), 1u);
  const SkippedRows skipped = CountSkipped(samples);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped.begin()->first.first, "abacus");
  EXPECT_EQ(skipped.begin()->second, 2);
  EXPECT_EQ(WhySkipped(samples[2]), "");
}

TEST(TrainingRowsTest, OpsOfNoFamilyAreLeftOut) {
  const std::vector<Sample> samples = {
      Of(Op::Collective(OpKind::kAllReduce, Bytes(1 << 20), Fabric())), Of(Op::Profiled(1, 1_us)),
      Of(Op())};
  for (const std::vector<FitRow>& rows : Rows(samples)) EXPECT_TRUE(rows.empty());
}

TEST(TrainingRowsTest, RowsAtTheFloorAreLeftOut) {
  Sample sample = Of(Op::Elementwise(Bytes(1)), "v100-pcie-16gb", "gelu");
  sample.source = "us";
  sample.times_whole_calls = true;
  const std::vector<Sample> samples = {sample};
  EXPECT_TRUE(RowsOf(MakeTrainingRows(samples, CallOverhead::Fit(samples)), "stream").empty());
  EXPECT_EQ(RowsOf(Rows(samples), "stream").size(), 1u);
}

// A table may have fp8 rows of a GPU type that has no such rate.
TEST(TrainingRowsTest, RowsInAFormatThatTheGpuLacksAreLeftOut) {
  const std::vector<Sample> samples = {Of(Op::Gemm(DType::kFp8, 64, 64, 64)),
                                       Of(Op::Gemm(DType::kFp8, 64, 64, 64), "h100-sxm5-80gb")};
  EXPECT_EQ(RowsOf(Rows(samples), "tensor_gemm").size(), 1u);
}

}  // namespace
}  // namespace stagecraft
