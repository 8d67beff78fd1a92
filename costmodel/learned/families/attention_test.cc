#include "costmodel/learned/families/attention.h"

#include <gtest/gtest.h>

#include "costmodel/learned/families/family_testing.h"

namespace stagecraft {
namespace {

// Returns a causal call of a serving framework.
Op Serving(int64_t sequences, int64_t heads, int64_t kv_heads, int64_t size, int64_t head_size) {
  Op op = Op::Attention(DType::kBf16, Direction::kForward, sequences * heads, size, size, head_size,
                        true);
  op.use = AttentionUse::kServing;
  op.attention_kernel = AttentionKernel::kFlash;
  op.sequences = sequences;
  op.kv_batch = sequences * kv_heads;
  return op;
}
Op Heads(int64_t heads, int64_t queries, int64_t keys, bool causal) {
  Op op = Op::Attention(DType::kBf16, Direction::kForward, heads, queries, keys, 128, causal);
  op.attention_kernel = AttentionKernel::kFlash;
  return op;
}

// Constants of a start of 10 us and the full rate, without fill, losses, tail and memory.
std::vector<double> OnlyCompute() { return {1, 0, 0, 10e-6, 0, 0, 0, 0, 60, 0, 0, 0, 0}; }
// The same, but every byte passes DRAM once.
std::vector<double> AlsoMemory() { return {1, 0, 0, 10e-6, 0, 1, 1, 0, 60, 0, 0, 0, 0}; }

double Micros(Op op, const std::vector<double>& constants, AttentionUse use) {
  op.use = use;
  return 1e6 * AttentionFamily().Describe(op, RoundDevice(), constants, {});
}

Op RandomAttention(Random& random, int most) {
  const bool is_causal = random.Uniform() < 0.5;
  Op op = Heads(RandomSize(random, most), RandomSize(random, most), RandomSize(random, most),
                is_causal);
  op.k = RandomSize(random, most);
  op.sequences = RandomSize(random, most);
  op.kv_batch = random.Integer(0, op.batch);
  op.use = random.Uniform() < 0.5 ? AttentionUse::kServing : AttentionUse::kTraining;
  op.direction = random.Uniform() < 0.8 ? Direction::kForward : Direction::kBackward;
  if (random.Uniform() < 0.5) op.dtype = DType::kFp16;
  return op;
}

// 100 blocks run on 100 multiprocessors of 1e13 flop/s; each takes 128 keys x 4 * 128 * 128 flop =
// 0.8389 us.
TEST(AttentionTest, AWaveOfBlocksTakesItsKeys) {
  const Op op = Heads(100, 128, 128, true);
  EXPECT_NEAR(Micros(op, OnlyCompute(), AttentionUse::kServing), 10.8389, 1e-4);
  EXPECT_NEAR(Micros(op, OnlyCompute(), AttentionUse::kTraining), 5.8389, 1e-4);
}

// Softmax takes an exponential for each query and key, 128 x 128 in a block here: 1024 clocks of a
// multiprocessor with 16 in each. A block may take some clocks to start.
TEST(AttentionTest, ExponentialsAndStartsAddToABlock) {
  const Op op = Heads(100, 128, 128, true);
  const double alone = Micros(op, OnlyCompute(), AttentionUse::kServing);
  std::vector<double> constants = OnlyCompute();
  const double clock_us = 1e6 / RoundDevice().boost_clock_hz;
  constants[2] = 1;
  EXPECT_NEAR(Micros(op, constants, AttentionUse::kServing) - alone, 1024 * clock_us, 1e-4);
  constants[2] = 0;
  constants[12] = 500;
  EXPECT_NEAR(Micros(op, constants, AttentionUse::kServing) - alone, 500 * clock_us, 1e-4);
}

TEST(AttentionTest, TheGenerationDecidesWhichKernelIsUsual) {
  Op op = Heads(8, 128, 128, true);
  op.attention_kernel = AttentionKernel::kUsual;
  Device device = RoundDevice();
  device.generation = Generation::kHopper;
  EXPECT_EQ(KernelOn(op, device), AttentionKernel::kFlash);
  device.generation = Generation::kBlackwell;
  EXPECT_EQ(KernelOn(op, device), AttentionKernel::kFused);
  op.attention_kernel = AttentionKernel::kCudnn;
  EXPECT_EQ(KernelOn(op, device), AttentionKernel::kFused);
  for (const AttentionKernel version :
       {AttentionKernel::kFlash1, AttentionKernel::kFlash2, AttentionKernel::kFlash3}) {
    op.attention_kernel = version;
    EXPECT_EQ(KernelOn(op, device), AttentionKernel::kFlash);
  }
  op.attention_kernel = AttentionKernel::kTriton;
  EXPECT_EQ(KernelOn(op, device), AttentionKernel::kTriton);
}

TEST(AttentionTest, AnOlderVersionComputesMoreSlowly) {
  Op op = Heads(100, 4096, 4096, true);
  Device hopper = RoundDevice();
  hopper.generation = Generation::kHopper;
  const auto seconds = [&](AttentionKernel version) {
    op.attention_kernel = version;
    return SecondsOf(AttentionFamily(), op, hopper);
  };
  EXPECT_GT(seconds(AttentionKernel::kFlash2), 1.4 * seconds(AttentionKernel::kFlash3));
  EXPECT_TRUE(AttentionFamily().IsDerived(op));
}

// There are two waves: of 128 and 256 keys under the mask, 192 on average, and of 256 keys each
// without it.
TEST(AttentionTest, AMaskHidesKeys) {
  EXPECT_NEAR(Micros(Heads(100, 256, 256, true), OnlyCompute(), AttentionUse::kServing),
              10 + 2 * 1.5 * 0.838861, 1e-4);
  EXPECT_NEAR(Micros(Heads(100, 256, 256, false), OnlyCompute(), AttentionUse::kServing),
              10 + 2 * 2 * 0.838861, 1e-4);
}

// A rank with half of the queries has half of the work.
TEST(AttentionTest, FewerQueriesSeeTheSameMeanOfKeys) {
  const auto work = [](int64_t queries) {
    const Op op = Heads(100, queries, 4096, true);
    return Micros(op, OnlyCompute(), AttentionUse::kServing) - 10;
  };
  EXPECT_NEAR(work(2048), work(4096) / 2, 1e-6);
}

// Queries and output are 6.5536 MB, and keys and values as much: 13.1072 us at 1 TB/s. Serving also
// stores keys and values, which are read and written once: 13.1072 us again. The backward takes 9
// us of starts and three times the bytes.
TEST(AttentionTest, MemoryBoundsSmallBlocks) {
  Op op = Heads(100, 128, 128, false);
  EXPECT_NEAR(Micros(op, AlsoMemory(), AttentionUse::kServing), 10 + 2 * 13.1072, 1e-4);
  EXPECT_NEAR(Micros(op, AlsoMemory(), AttentionUse::kTraining), 5 + 13.1072, 1e-4);
  op.direction = Direction::kBackward;
  EXPECT_NEAR(Micros(op, AlsoMemory(), AttentionUse::kTraining), 9 + 3 * 13.1072, 1e-4);
}

// Two waves of 256 keys take 3.3554 us forward; the backward has 2.5 times the GEMMs at 0.8 of the
// rate.
TEST(AttentionTest, BackwardHasMoreProducts) {
  Op op = Heads(100, 256, 256, false);
  op.direction = Direction::kBackward;
  EXPECT_NEAR(Micros(op, OnlyCompute(), AttentionUse::kTraining), 9 + 3.125 * 3.355443, 1e-4);
}

TEST(AttentionTest, FeaturesAreOfTheCallThatServes) {
  Op op = Serving(2, 32, 8, 2048, 128);
  const std::vector<float> serving = FeaturesOf(AttentionFamily(), op, RoundDevice());
  op.use = AttentionUse::kTraining;
  EXPECT_EQ(FeaturesOf(AttentionFamily(), op, RoundDevice()), serving);
  op.direction = Direction::kBackward;
  EXPECT_EQ(FeaturesOf(AttentionFamily(), op, RoundDevice()), serving);
}

TEST(AttentionTest, SixteenBitsAreCovered) {
  EXPECT_TRUE(AttentionFamily().Covers(Heads(1, 1, 1, true), RoundDevice()));
  Op op = Heads(1, 1, 1, true);
  op.attention_kernel = AttentionKernel::kFused;
  EXPECT_FALSE(AttentionFamily().Covers(op, RoundDevice()));
  EXPECT_TRUE(FusedAttentionFamily().Covers(op, RoundDevice()));
  op.attention_kernel = AttentionKernel::kFlash;
  op.dtype = DType::kFp32;
  EXPECT_FALSE(AttentionFamily().Covers(op, RoundDevice()));
}

TEST(AttentionTest, EverythingIsFiniteOnEveryGpu) {
  ExpectFinite(AttentionFamily(), [](Random& random) { return RandomAttention(random, 40); });
}

// This holds from one full wave on: within the first wave, the time falls a little as waves grow.
TEST(AttentionTest, TimeGrowsWithEveryDimension) {
  const auto draw = [](Random& random) {
    Op op = RandomAttention(random, 16);
    op.batch += 304;  // as many as any GPU has multiprocessors
    op.kv_batch = std::max<int64_t>(1, op.kv_batch);
    return op;
  };
  for (const auto dimension : {&Op::batch, &Op::kv_batch, &Op::sequences, &Op::m, &Op::n, &Op::k}) {
    ExpectGrowth(AttentionFamily(), draw, dimension);
  }
}

// Returns the sustained fraction with which attention runs at a share of the peak: GEMMs reach 0.85
// of the rate at a clock, and attention takes 0.65 of their power.
double Share(double share) { return share * 0.85 * std::pow(0.65, 1 / 2.25); }

TEST(AttentionTest, AgreesWithItsReference) {
  ExpectReference(AttentionFamily(),
                  {{"l4-24gb", Serving(6, 21, 21, 32, 192), 1.75540668e-05, Share(0.8204)},
                   {"a10-24gb", Serving(16, 16, 2, 4096, 64), 0.00669070439, Share(0.8399)},
                   {"rtx5090-32gb", Serving(80, 10, 5, 562, 256), 0.00172589595, Share(0.7635)},
                   {"rtxa6000-48gb", Serving(128, 30, 15, 512, 192), 0.00785695722, Share(0.8399)},
                   {"rtx6000ada-48gb", Serving(8, 16, 16, 32, 256), 1.43820936e-05, Share(0.8204)},
                   {"h100-sxm5-80gb", Serving(4, 12, 6, 2048, 256), 0.000235599432, Share(0.8033)},
                   {"rtx6000ada-48gb", Serving(64, 64, 32, 2048, 128), 0.023806646, Share(0.8204)},
                   {"h100-pcie-80gb", Serving(16, 52, 26, 9, 256), 1.7733044e-05, Share(0.816)},
                   {"gb200-186gb", Serving(2, 16, 2, 16384, 128), 0.00204269033, Share(0.7288)},
                   {"b300-sxm-288gb", Serving(3, 44, 22, 3, 128), 1.13622978e-05, Share(0.7862)}});
}

TEST(AttentionTest, FeaturesAgreeWithTheirReference) {
  ExpectReferenceFeatures(
      AttentionFamily(), {"l4-24gb", Serving(6, 21, 21, 32, 192), 1.75540668e-05, Share(0.8204)},
      {5,           2.5849625,   0,           192,         1.11929893,  1.38095238,
       0.174783319, 0.16707761,  0.112815707, 0.637231255, -15.7978352, 4.39231742,
       4.39231742,  -4.02272008, -5.142019,   6.97727992,  0.25,        0,
       58,          403.333333,  867787.034,  1022.65044,  2.04e+09});
}

}  // namespace
}  // namespace stagecraft
