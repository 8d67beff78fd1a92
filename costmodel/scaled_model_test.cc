#include "costmodel/scaled_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace stagecraft {
namespace {

// A model in which kernels take 1 us, and collectives 2 us and the time of their bytes over the
// slower link; above 16 GB/s collectives jump to 1 ms.
class PlainModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      if (!IsCollective(op.kind)) {
        estimates.push_back({Duration::Nanoseconds(1000)});
        continue;
      }
      const Bandwidth slowest = std::min(op.fabric.intra.bandwidth, op.fabric.inter.bandwidth);
      const bool jumps = slowest > Bandwidth(16e9);
      estimates.push_back({jumps ? Duration::Nanoseconds(1'000'000)
                                 : Duration::Nanoseconds(2000) + op.bytes / slowest});
    }
    return estimates;
  }
};

Op Reduction(double intra, double inter) {
  Fabric fabric;
  fabric.intra.bandwidth = Bandwidth(intra);
  fabric.inter.bandwidth = Bandwidth(inter);
  return Op::Collective(OpKind::kAllReduce, Bytes(80'000), fabric);
}

Duration TimeOf(const Op& op, const Speeds& speeds) {
  const PlainModel model;
  return ScaledModel(model, speeds).Predict({&op, 1}, Device())[0].time;
}

TEST(ScaledModelTest, KernelsFollowTheDevice) {
  const Op gemm = Op::Gemm(DType::kBf16, 8, 8, 8);
  EXPECT_EQ(TimeOf(gemm, {}), Duration::Nanoseconds(1000));
  EXPECT_EQ(TimeOf(gemm, {.compute = 2}), Duration::Nanoseconds(500));
  EXPECT_EQ(TimeOf(gemm, {.compute = 1.1}), Duration::Nanoseconds(910));  // 909.09
  EXPECT_EQ(TimeOf(gemm, {.intra = 2, .inter = 2}), Duration::Nanoseconds(1000));
}

// 80 kB take 10 us at 8 GB/s, and the latency stays 2 us.
TEST(ScaledModelTest, CollectivesFollowTheirLinksAndKeepTheirLatency) {
  EXPECT_EQ(TimeOf(Reduction(100e9, 8e9), {}), Duration::Nanoseconds(12000));
  EXPECT_EQ(TimeOf(Reduction(100e9, 8e9), {.inter = 2}), Duration::Nanoseconds(7000));
  EXPECT_EQ(TimeOf(Reduction(100e9, 8e9), {.inter = 0.5}), Duration::Nanoseconds(22000));
  EXPECT_EQ(TimeOf(Reduction(100e9, 8e9), {.intra = 2}), Duration::Nanoseconds(12000));
  EXPECT_EQ(TimeOf(Reduction(8e9, 100e9), {.intra = 2}), Duration::Nanoseconds(7000));
  EXPECT_EQ(TimeOf(Reduction(100e9, 8e9), {.compute = 2}), Duration::Nanoseconds(12000));
}

// Such links join CPUs of a host, or GPUs that communicate through its memory.
TEST(ScaledModelTest, LinksThroughAHostAreLinksToo) {
  Op op = Reduction(8e9, 100e9);
  op.fabric.intra.kind = LinkKind::kHost;
  EXPECT_EQ(TimeOf(op, {.intra = 2}), Duration::Nanoseconds(7000));
}

TEST(ScaledModelTest, ATimeThatJumpsStaysBetweenItsShares) {
  const Op near = Reduction(100e9, 15e9);
  const Duration before = TimeOf(near, {});
  const Speeds faster = {.intra = 1.1, .inter = 1.1};
  EXPECT_EQ(TimeOf(near, faster), before);  // not a thousand times as long
  EXPECT_EQ(faster.LeastShare(), 1 / 1.1);
  EXPECT_EQ(faster.MostShare(), 1);
  EXPECT_EQ((Speeds{.compute = 0.9}.MostShare()), 1 / 0.9);
  EXPECT_EQ((Speeds{.compute = 0.9}.LeastShare()), 1);
}

}  // namespace
}  // namespace stagecraft
