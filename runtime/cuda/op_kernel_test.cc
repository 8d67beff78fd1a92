#include "runtime/cuda/op_kernel.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(OpKernelTest, ProductsHaveTheLayoutOfTheirPass) {
  const Op op = Op::Gemm(DType::kBf16, 64, 32, 16, 2);
  EXPECT_EQ(KernelOf(op, Phase::kForward, 0).one, (ProfileCase{op, "linear"}));
  EXPECT_EQ(KernelOf(op, Phase::kBackward, 0).one, (ProfileCase{op, "linear_input_gradient"}));
  EXPECT_EQ(KernelOf(op, Phase::kBackward, kWeightGradient).one,
            (ProfileCase{op, "linear_weight_gradient"}));
  const Op eight = Op::Gemm(DType::kFp8, 64, 32, 16);
  EXPECT_EQ(KernelOf(eight, Phase::kBackward, kWeightGradient).one.kernel, "linear");
}

TEST(OpKernelTest, OneOfSeveralKernelsHasItsShareOfTheRows) {
  Op op = Op::Gemm(DType::kBf16, 100, 32, 16);
  op.kernels = 8;
  const OpKernel kernel = KernelOf(op, Phase::kForward, 0);
  EXPECT_EQ(kernel.launches, 8);
  EXPECT_EQ(kernel.one.op.m, 13);
  EXPECT_EQ(kernel.one.op.kernels, 1);
}

TEST(OpKernelTest, ConvolutionsAreProductsOfTheirSizes) {
  const OpKernel kernel =
      KernelOf(Op::Convolution(DType::kFp16, 4, 128, 64, 576, Bytes(1000)), Phase::kForward, 0);
  EXPECT_EQ(kernel.family, KernelFamily::kProduct);
  EXPECT_EQ(kernel.one.op, Op::Gemm(DType::kFp16, 128, 64, 576, 4));
}

TEST(OpKernelTest, OpsThatMoveBytesBecomeKernelsThatMoveAsMany) {
  const OpKernel sum = KernelOf(Op::Elementwise(Bytes(6 * 12800), 2), Phase::kForward, 0);
  EXPECT_EQ(sum.family, KernelFamily::kStream);
  EXPECT_EQ(sum.one.kernel, "add");
  EXPECT_EQ(sum.launches, 2);
  EXPECT_EQ(sum.one.op.bytes, Bytes(6 * 6400));

  const OpKernel adam = KernelOf(Op::Optimizer(Bytes(30 * 1280 + 7), 1), Phase::kOptimizer, 0);
  EXPECT_EQ(adam.one.kernel, "adam");
  EXPECT_EQ(adam.one.op.bytes, Bytes(30 * 1280));

  // Even an op of a few bytes moves the least that a kernel can.
  EXPECT_EQ(KernelOf(Op::Elementwise(Bytes(4)), Phase::kForward, 0).one.op.bytes, Bytes(6 * 128));
}

TEST(OpKernelTest, VeryManyBytesAreMovedInSeveralLaunches) {
  const OpKernel adam = KernelOf(Op::Optimizer(Bytes(int64_t{10} << 30), 2), Phase::kOptimizer, 0);
  EXPECT_EQ(adam.launches, 10);
  EXPECT_LE(adam.one.op.bytes, Bytes(1 << 30));
  EXPECT_GT(adam.one.op.bytes, Bytes((1 << 30) - 30 * 128));
}

TEST(OpKernelTest, TheNumberOfRowsFollowsFromTheBytes) {
  // The forward kernel reads and writes 16 bits, 4 bytes an element; the backward kernel reads a
  // second tensor.
  const Op norm = Op::Rowwise(OpKind::kNorm, DType::kFp16, 100, 512, Bytes(100 * 512 * 12));
  const OpKernel forward = KernelOf(norm, Phase::kForward, 0);
  EXPECT_EQ(forward.family, KernelFamily::kRows);
  EXPECT_EQ(forward.one.kernel, "rms_norm");
  EXPECT_EQ(forward.one.op.m, 300);
  EXPECT_EQ(forward.one.op.n, 512);
  EXPECT_EQ(forward.one.op.dtype, DType::kBf16);
  const OpKernel backward = KernelOf(norm, Phase::kBackwardInput, 0);
  EXPECT_EQ(backward.one.kernel, "rms_norm_backward");
  EXPECT_EQ(backward.one.op.m, 200);
  // Rows of an odd width cannot be divided into packs.
  const Op odd = Op::Rowwise(OpKind::kSoftmax, DType::kBf16, 10, 1001, Bytes(40040));
  EXPECT_EQ(KernelOf(odd, Phase::kForward, 0).one.kernel, "add");
}

TEST(OpKernelTest, AProfiledOpTakesItsTime) {
  const OpKernel kernel = KernelOf(Op::Profiled(3, 20_us), Phase::kForward, 0);
  EXPECT_EQ(kernel.family, KernelFamily::kSpin);
  EXPECT_EQ(kernel.spin, 60_us);
}

TEST(OpKernelTest, AnOpThatDoesNothingHasNoKernel) {
  EXPECT_EQ(KernelOf(Op(), Phase::kForward, 0).family, KernelFamily::kNothing);
  EXPECT_EQ(KernelOf(Op::Gemm(DType::kBf16, 0, 8, 8), Phase::kForward, 0).family,
            KernelFamily::kNothing);
  EXPECT_EQ(KernelOf(Op::Elementwise(Bytes(0)), Phase::kForward, 0).family, KernelFamily::kNothing);
}

}  // namespace
}  // namespace stagecraft
