#include "costmodel/learned/families/hosts.h"

#include <gtest/gtest.h>

#include "costmodel/learned/families/family_testing.h"

namespace stagecraft {
namespace {

// Returns a CPU with 100 GFLOP/s in every format, 10 GB/s and an L2 of 1 MB.
Device Processor() {
  Device device = RoundDevice();
  device.generation = Generation::kHost;
  device.peak.fill(FlopRate(1e11));
  device.memory_bandwidth = Bandwidth(1e10);
  device.l2 = Bytes(1'000'000);
  return device;
}

double Micros(const KernelFamily& family, const Op& op) {
  return 1e6 * SecondsOf(family, op, Processor());
}

// 2 x 80^3 flops at 0.9 of the peak take 11.378 us, and the edges 3 x 8 / 80 of that more; 3 x
// 6,400 numbers of 4 bytes take 7.68 us at 10 GB/s; the start takes 0.5 us.
TEST(HostsTest, AProductTakesItsFlopsItsEdgesAndItsOperands) {
  const Op op = Op::Gemm(DType::kBf16, 80, 80, 80);
  EXPECT_NEAR(Micros(HostProductFamily(), op), 0.5 + 11.3778 * 1.3 + 7.68, 1e-3);
  const Op twice = Op::Gemm(DType::kFp32, 80, 80, 80, 2);
  EXPECT_NEAR(Micros(HostProductFamily(), twice), 0.5 + 2 * (11.3778 * 1.3 + 7.68), 1e-3);
}

// GEMMs of 80^3 take 19.017 us at 0.7 of the peak, with edges, and 6,400 elements take 19.2 us.
TEST(HostsTest, AttentionIsTwoProductsOrFive) {
  const auto attention = [](Direction direction) {
    return Micros(HostAttentionFamily(),
                  Op::Attention(DType::kFp32, direction, 3, 80, 80, 80, /*causal=*/true));
  };
  EXPECT_NEAR(attention(Direction::kForward), 0.5 + 3 * (2 * 19.0171 + 19.2), 1e-3);
  EXPECT_NEAR(attention(Direction::kBackward), 0.5 + 3 * (5 * 19.0171 + 19.2), 1e-3);
}

TEST(HostsTest, AllElseMovesItsBytes) {
  const Bytes bytes(9'000'000);
  for (const Op& op : {Op::Elementwise(bytes, 3), Op::Optimizer(bytes, 1),
                       Op::Rowwise(OpKind::kNorm, DType::kFp32, 1, 1, bytes),
                       Op::Rowwise(OpKind::kSoftmax, DType::kBf16, 1, 1, bytes)}) {
    EXPECT_NEAR(Micros(HostMoveFamily(), op), 0.5 + 1000, 1e-6) << Describe(op);
  }
}

TEST(HostsTest, TimeGrowsWithEverySize) {
  const auto product = [](Random& random) {
    return Op::Gemm(DType::kFp32, RandomSize(random, 14), RandomSize(random, 14),
                    RandomSize(random, 14), RandomSize(random, 6));
  };
  const auto attention = [](Random& random) {
    return Op::Attention(DType::kFp32, Direction::kBackward, RandomSize(random, 6),
                         RandomSize(random, 12), RandomSize(random, 12), RandomSize(random, 8),
                         false);
  };
  for (int64_t Op::*const size : {&Op::m, &Op::n, &Op::k, &Op::batch}) {
    ExpectGrowth(HostProductFamily(), product, size);
    ExpectGrowth(HostAttentionFamily(), attention, size);
  }
  ExpectFinite(HostProductFamily(), product);
  ExpectFinite(HostAttentionFamily(), attention);
  ExpectFinite(HostMoveFamily(),
               [](Random& random) { return Op::Elementwise(Bytes(RandomSize(random, 40))); });
}

}  // namespace
}  // namespace stagecraft
