#include "sim/engine/sparse_products.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// A product from its entries takes a microsecond for each of them. An expanded one takes five on
// fast devices, and fifty on others.
class EntryModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      const bool is_expanded = op.product == SparseProduct::kExpanded;
      estimate.time = is_expanded ? (device.id == "fast" ? 5_us : 50_us) : op.nonzeros * 1_us;
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

Op Product(int64_t entries) {
  return Op::Sparse(DType::kBf16, Direction::kForward, 8, 64, 64, entries);
}

std::vector<SparseProduct> Decided(const Cluster& cluster, const std::vector<Op>& ops) {
  Schedule::Builder builder;
  for (int device = 0; device < cluster.device_count(); ++device) {
    builder.AddRank({.device = device});
  }
  for (const Op& op : ops) builder.AddOp(op);
  const Schedule schedule = WithFasterProducts(builder.Build(), cluster, EntryModel());
  std::vector<SparseProduct> products;
  for (const Op& op : schedule.distinct_ops()) products.push_back(op.product);
  return products;
}

using enum SparseProduct;
using Products = std::vector<SparseProduct>;

TEST(SparseProductsTest, EachRunsInTheFasterWay) {
  const Cluster cluster("one", {{MakeNode(MakeDevice("fast", 1e14), 1), 1}});
  EXPECT_EQ(Decided(cluster, {Product(2), Product(9), Product(5)}),
            (Products{kFromEntries, kExpanded, kFromEntries}));
}

TEST(SparseProductsTest, OtherOpsAndDecisionsStay) {
  const Cluster cluster("one", {{MakeNode(MakeDevice("fast", 1e14), 1), 1}});
  Op expanded = Product(2);
  expanded.product = kExpanded;
  EXPECT_EQ(Decided(cluster, {Op::Gemm(DType::kBf16, 8, 8, 8), expanded}),
            (Products{kFaster, kExpanded}));
}

TEST(SparseProductsTest, WhatWasDecidedIsCounted) {
  const Cluster cluster("one", {{MakeNode(MakeDevice("fast", 1e14), 1), 1}});
  Schedule::Builder builder;
  builder.AddRank({.device = 0});
  for (const int64_t entries : {2, 3, 9}) builder.AddOp(Product(entries));
  builder.AddOp(Op::Gemm(DType::kBf16, 8, 8, 8));
  EXPECT_EQ(CountSparseProducts(WithFasterProducts(builder.Build(), cluster, EntryModel())),
            (SparseProducts{.from_entries = 2, .expanded = 1}));
}

// Nothing is priced, and the schedule that is handed in is handed back.
TEST(SparseProductsTest, WithoutSparseProductsNothingIsCopied) {
  const Cluster cluster("one", {{MakeNode(MakeDevice("fast", 1e14), 1), 1}});
  Schedule::Builder builder;
  builder.AddRank({.device = 0});
  builder.AddOp(Op::Gemm(DType::kBf16, 8, 8, 8));
  Schedule schedule = builder.Build();
  const Op* const ops = schedule.distinct_ops().data();
  const Schedule same = WithFasterProducts(std::move(schedule), cluster, EntryModel());
  EXPECT_EQ(same.distinct_ops().data(), ops);
}

// Together they take 2 x 20 us from the entries, and 5 + 50 us expanded.
TEST(SparseProductsTest, TheTimesOfAllKindsOfDevicesAddUp) {
  const Cluster cluster("two", {{MakeNode(MakeDevice("fast", 1e14), 1), 1},
                                {MakeNode(MakeDevice("slow", 1e13), 1), 1}});
  EXPECT_EQ(Decided(cluster, {Product(20), Product(30)}), (Products{kFromEntries, kExpanded}));
}

}  // namespace
}  // namespace stagecraft
