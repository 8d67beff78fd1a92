#include "costmodel/site_factors.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

// Kernels take 10 us, and 2 us of the host; collectives take their bytes over the bandwidth.
class PlainModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate& estimate = estimates.emplace_back();
      estimate.time = IsCollective(op.kind) ? op.bytes / op.fabric.intra.bandwidth : 10_us;
      estimate.host = 2_us;
    }
    return estimates;
  }
};

TEST(SiteFactorsTest, KernelsLinksAndHostsChangeByTheirOwnFactors) {
  Fabric fabric;
  fabric.ranks = 2;
  fabric.intra.bandwidth = Bandwidth(1e9);
  const Op ops[] = {Op::Gemm(DType::kBf16, 8, 8, 8),
                    Op::Collective(OpKind::kAllReduce, Bytes(100'000), fabric)};
  const PlainModel plain;
  const auto at = [&](const SiteFactors& factors) {
    return SiteModel(plain, factors).Predict(ops, Device());
  };
  EXPECT_EQ(at({}), plain.Predict(ops, Device()));
  EXPECT_EQ(at({.compute = 0.5})[0].time, 20_us);
  EXPECT_EQ(at({.compute = 0.5})[1].time, 100_us);
  EXPECT_EQ(at({.network = 0.5})[0].time, 10_us);
  EXPECT_EQ(at({.network = 0.5})[1].time, 200_us);
  EXPECT_EQ(at({.host = 1.5})[0].host, 3_us);
  EXPECT_EQ(at({.host = 1.5})[0].time, 10_us);
}

}  // namespace
}  // namespace stagecraft
