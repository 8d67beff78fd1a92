#include "costmodel/memo_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "costmodel/sparse_product.h"

namespace stagecraft {
namespace {

// A model that counts for how many ops it is asked. An op of m rows takes m ns times the number of
// multiprocessors.
class CountingModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    asked += static_cast<int>(ops.size());
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      estimates.push_back({Duration::Nanoseconds(op.m * device.multiprocessors)});
    }
    return estimates;
  }
  mutable std::atomic<int> asked = 0;
};

Device TestGpu(int multiprocessors) {
  Device device;
  device.multiprocessors = multiprocessors;
  return device;
}

std::vector<Op> Ops(int64_t first, int64_t count) {
  std::vector<Op> ops;
  for (int64_t m = first; m < first + count; ++m) ops.push_back(Op::Gemm(DType::kBf16, m, 8, 8));
  return ops;
}

TEST(MemoModelTest, AsksOnceForEveryOpAndGpu) {
  const CountingModel model;
  const MemoModel memo(model);
  EXPECT_EQ(memo.Predict(Ops(1, 10), TestGpu(2)), model.Predict(Ops(1, 10), TestGpu(2)));
  model.asked = 0;
  EXPECT_EQ(memo.Predict(Ops(6, 10), TestGpu(2))[9].time, Duration::Nanoseconds(30));
  EXPECT_EQ(model.asked, 5);
  EXPECT_EQ(memo.Predict(Ops(1, 15), TestGpu(2))[0].time, Duration::Nanoseconds(2));
  EXPECT_EQ(model.asked, 5);
  EXPECT_EQ(memo.Predict(Ops(1, 1), TestGpu(3))[0].time, Duration::Nanoseconds(3));
  EXPECT_EQ(model.asked, 6);
  EXPECT_TRUE(memo.Predict({}, TestGpu(3)).empty());
}

TEST(MemoModelTest, TheSameGpuWithMoreMemoryTakesAsLong) {
  const CountingModel model;
  const MemoModel memo(model);
  Device larger = TestGpu(2);
  larger.memory = Bytes(int64_t{160} << 30);
  memo.Predict(Ops(1, 10), TestGpu(2));
  EXPECT_EQ(memo.Predict(Ops(1, 10), larger)[9].time, Duration::Nanoseconds(20));
  EXPECT_EQ(model.asked, 10);
  larger.multiprocessors = 3;
  EXPECT_EQ(memo.Predict(Ops(1, 10), larger)[9].time, Duration::Nanoseconds(30));
  EXPECT_EQ(model.asked, 20);
}

TEST(MemoModelTest, AFullMemoryAsksAnewAndSaysTheSame) {
  const CountingModel model;
  const MemoModel memo(model, 10);
  EXPECT_EQ(memo.Predict(Ops(1, 25), TestGpu(2)), model.Predict(Ops(1, 25), TestGpu(2)));
  model.asked = 0;
  EXPECT_EQ(memo.Predict(Ops(1, 25), TestGpu(2))[24].time, Duration::Nanoseconds(50));
  EXPECT_EQ(model.asked, 15);
  EXPECT_EQ(memo.Predict(Ops(1, 10), TestGpu(3))[9].time, Duration::Nanoseconds(30));
  EXPECT_EQ(memo.Predict(Ops(1, 10), TestGpu(3))[9].time, Duration::Nanoseconds(30));
  EXPECT_EQ(model.asked, 25);
}

// Sparse products that differ in their entries are the same GEMM once they are expanded.
TEST(MemoModelTest, ExpandedProductsShareTheirGemm) {
  constexpr int kProducts = 10;
  std::vector<Op> products;
  for (int i = 0; i < kProducts; ++i) {
    products.push_back(
        Op::Sparse(DType::kBf16, Direction::kForward, 64, 32, 16, /*nonzeros=*/100 + i));
    products.back().product = SparseProduct::kFaster;
  }
  const CountingModel model;
  const MemoModel memo(model);
  const auto of_model = [&](std::span<const Op> ops) { return model.Predict(ops, TestGpu(2)); };
  EXPECT_EQ(memo.Predict(products, TestGpu(2)), PriceWithSparse(products, of_model));
  model.asked = 0;
  for (Op& product : products) product.nonzeros += kProducts;
  memo.Predict(products, TestGpu(2));
  EXPECT_EQ(model.asked, 2 * kProducts);  // from the entries, and the kernel that expands them
}

TEST(MemoModelTest, ThreadsSeeTheSameEstimates) {
  const CountingModel model;
  const MemoModel memo(model);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const std::vector<Estimate> estimates = memo.Predict(Ops(1 + round, 20), TestGpu(5));
        for (int i = 0; i < 20; ++i) {
          wrong += estimates[i].time != Duration::Nanoseconds(5 * (1 + round + i));
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stagecraft
