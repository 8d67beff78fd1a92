#include "costmodel/sparse_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// A half of 8 x 6 numbers.
Op Product(Direction direction = Direction::kForward) {
  return Op::Sparse(DType::kBf16, direction, 10, 8, 6, 24);
}

Op Way(Op op, SparseProduct product) {
  op.product = product;
  return op;
}

// Each number has 2 bytes; the column of each entry has 4, and so has each place where one of 8
// rows begins or the last one ends.
TEST(SparseProductTest, TrafficIsThatOfTheEntriesAndOfTheDenseOperands) {
  const int64_t operands = 2 * 10 * (8 + 6), entries = 2 * 24 + 4 * (24 + 9);
  EXPECT_EQ(Product().Traffic(), Bytes(operands + entries));
  EXPECT_EQ(Product().Flops().count(), 2 * 10 * 24);
  const Op expanded = Way(Product(), SparseProduct::kExpanded);
  EXPECT_EQ(expanded.Traffic(), Bytes(operands + entries + 2 * 2 * 8 * 6));
  EXPECT_EQ(expanded.Flops().count(), 2 * 10 * 8 * 6);
}

TEST(SparseProductTest, AnExpandedProductIsAMoveAndAGemm) {
  const ExpandedProduct forward = Expanded(Product());
  EXPECT_EQ(forward.move, Op::Elementwise(Bytes(2 * 24 + 4 * (24 + 9) + 2 * 8 * 6)));
  EXPECT_EQ(forward.gemm, Op::GemmOfRows(DType::kBf16, 10, 8, 6, 1, {6, 8}));
  const ExpandedProduct backward = Expanded(Product(Direction::kBackward));
  EXPECT_EQ(backward.move, forward.move);
  EXPECT_EQ(backward.gemm, Op::GemmOfRows(DType::kBf16, 8, 6, 10, 1, {6, 8}));
}

// Prices that are easy to tell apart: 7 us from the entries, 2 us a move, and a GEMM as given.
std::vector<Estimate> Price(std::span<const Op> ops, Duration gemm) {
  std::vector<Estimate> estimates;
  for (const Op& op : ops) {
    EXPECT_TRUE(op.kind != OpKind::kSparse || op.product == SparseProduct::kFromEntries);
    Estimate estimate;
    estimate.time = op.kind == OpKind::kSparse ? 7_us : op.kind == OpKind::kGemm ? gemm : 2_us;
    estimate.basis = op.kind == OpKind::kGemm ? Basis::kLearned : Basis::kExtrapolated;
    estimate.host = 1_us;
    estimates.push_back(estimate);
  }
  return estimates;
}

TEST(SparseProductTest, TheFasterWayCounts) {
  const Op ops[] = {Op::Elementwise(Bytes(8)), Product(), Way(Product(), SparseProduct::kExpanded),
                    Way(Product(), SparseProduct::kFromEntries), Op::Gemm(DType::kBf16, 1, 1, 1)};
  const auto times = [&](Duration gemm) {
    std::vector<Duration> times;
    for (const Estimate& estimate :
         PriceWithSparse(ops, [&](std::span<const Op> some) { return Price(some, gemm); })) {
      times.push_back(estimate.time);
    }
    return times;
  };
  EXPECT_EQ(times(4_us), (std::vector<Duration>{2_us, 6_us, 6_us, 7_us, 4_us}));
  EXPECT_EQ(times(9_us), (std::vector<Duration>{2_us, 7_us, 11_us, 7_us, 9_us}));
  const Estimate expanded =
      PriceWithSparse({ops + 2, 1}, [](std::span<const Op> some) { return Price(some, 4_us); })[0];
  EXPECT_EQ(expanded.basis, Basis::kExtrapolated);  // the weaker one
  EXPECT_EQ(expanded.host, 2_us);
}

// Tensor cores win unless nearly all is pruned away.
TEST(SparseProductTest, OnAGpuOnlyVerySparseMatricesAreFasterFromTheirEntries) {
  const Device& gpu = DeviceCatalogue::Embedded().Get("a100-sxm4-80gb", "test").device;
  const AnalyticalModel model;
  const auto faster = [&](double density) {
    const auto entries = static_cast<int64_t>(density * 4096 * 4096);
    return FasterProduct(Op::Sparse(DType::kBf16, Direction::kForward, 4096, 4096, 4096, entries),
                         {&gpu, 1}, model);
  };
  EXPECT_EQ(faster(0.5), SparseProduct::kExpanded);
  EXPECT_EQ(faster(0.1), SparseProduct::kExpanded);
  EXPECT_EQ(faster(0.005), SparseProduct::kFromEntries);
}

TEST(SparseProductTest, MoreEntriesNeverTakeLessTime) {
  const Device& gpu = DeviceCatalogue::Embedded().Get("h100-sxm5-80gb", "test").device;
  const AnalyticalModel model;
  Duration before;
  for (int64_t entries = 0; entries <= 1024 * 1024; entries += 4096) {
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      const Op op = Op::Sparse(DType::kBf16, direction, 2048, 1024, 1024, entries);
      const Estimate estimate = model.Predict({&op, 1}, gpu)[0];
      EXPECT_GE(estimate.time, before) << entries;
      EXPECT_EQ(estimate.basis, Basis::kAnalytical);
      if (direction == Direction::kForward) before = estimate.time;
    }
  }
}

}  // namespace
}  // namespace stagecraft
