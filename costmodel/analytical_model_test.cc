#include "costmodel/analytical_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/collective_model.h"
#include "costmodel/embedded_nccl_tuning.h"

namespace stagecraft {
namespace {

Device A100() {
  Device device;
  device.generation = Generation::kAmpere;
  device.multiprocessors = 108;
  device.boost_clock_hz = 1.41e9;
  device.peak = {FlopRate(19.5e12), FlopRate(156e12), FlopRate(312e12), FlopRate(312e12),
                 FlopRate()};
  device.sustained_fraction = 0.869;
  device.memory_bandwidth = Bandwidth(2039e9);
  device.l2 = Bytes(41'943'040);
  return device;
}

TEST(AnalyticalModelTest, EachOpGetsItsModelsEstimateInOrder) {
  Fabric fabric;
  fabric.ranks = 8;
  fabric.ranks_per_node = 8;
  fabric.intra = {LinkKind::kNvlink, Duration(), Bandwidth(300e9)};
  const Op ops[] = {Op(), Op::Gemm(DType::kBf16, 4096, 4096, 4096),
                    Op::Collective(OpKind::kAllReduce, Bytes(1 << 24), fabric)};
  const std::vector<Estimate> estimates = AnalyticalModel().Predict(ops, A100());
  ASSERT_EQ(estimates.size(), 3u);
  EXPECT_EQ(estimates[0].time, Duration());
  EXPECT_EQ(estimates[1], PredictKernel(ops[1], A100()));
  EXPECT_EQ(estimates[2].time, PredictCollective(ops[2], A100(), EmbeddedNcclTuning()).time);
  EXPECT_EQ(estimates[2].host, 75_us);
  for (const Estimate& estimate : estimates) EXPECT_EQ(estimate.basis, Basis::kAnalytical);
}

// In aiconfigurator's table, a GEMM of (4097, 4096, 4096) in bf16 takes 625.9 us on an A100 SXM 80
// GB.
TEST(AnalyticalModelTest, AMeasuredGemmIsWithinThreeSpreads) {
  const Op op = Op::Gemm(DType::kBf16, 4097, 4096, 4096);
  const Estimate estimate = PredictKernel(op, A100());
  EXPECT_NEAR(std::log(estimate.time.us() / 625.9), 0, 3 * estimate.spread);
}

}  // namespace
}  // namespace stagecraft
