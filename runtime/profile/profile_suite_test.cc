#include "runtime/profile/profile_suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "runtime/profile/sobol.h"

namespace stagecraft {
namespace {

constexpr Duration kMinute = Duration::Nanoseconds(60'000'000'000);
constexpr Bytes kFree(int64_t{138} << 30);

Device Hopper() {
  Device device;
  device.id = "h200";
  device.peak[static_cast<int>(DType::kFp32)] = FlopRate(67e12);
  device.peak[static_cast<int>(DType::kTf32)] = FlopRate(495e12);
  device.peak[static_cast<int>(DType::kFp16)] = FlopRate(989e12);
  device.peak[static_cast<int>(DType::kBf16)] = FlopRate(989e12);
  device.peak[static_cast<int>(DType::kFp8)] = FlopRate(1979e12);
  device.memory_bandwidth = Bandwidth(4800e9);
  return device;
}

// Returns a network of the size of Llama-2 70B.
NetworkShape Llama() {
  NetworkShape network;
  network.linears = {{8192, 10240, Divided::kOutputs},
                     {8192, 8192, Divided::kInputs},
                     {8192, 57344, Divided::kOutputs},
                     {28672, 8192, Divided::kInputs}};
  network.attentions = {{64, 8, 128, true}};
  return network;
}

SuiteOptions Options(SuiteSize size) {
  SuiteOptions options;
  options.size = size;
  options.device = Hopper();
  options.memory = kFree;
  options.host_link = {LinkKind::kPcie, 1_us, Bandwidth(63e9)};
  options.networks = {Llama()};
  return options;
}

std::map<OpKind, int> Counts(std::span<const ProfileCase> suite) {
  std::map<OpKind, int> counts;
  for (const ProfileCase& one : suite) ++counts[one.op.kind];
  return counts;
}

TEST(ProfileSuiteTest, TheQuickSuiteTakesThreeMinutesAndTheFullOneFifteen) {
  const auto quick = MakeSuite(Options(SuiteSize::kQuick));
  const auto full = MakeSuite(Options(SuiteSize::kFull));
  EXPECT_LT(LongestSuite(quick, Hopper(), MeasuringRules()), 3 * kMinute);
  EXPECT_LT(LongestSuite(full, Hopper(), MeasuringRules()), 15 * kMinute);
  EXPECT_GT(LongestSuite(full, Hopper(), MeasuringRules()), 5 * kMinute);
  std::map<OpKind, int> counts = Counts(full);
  EXPECT_GE(counts[OpKind::kGemm], 3000);
  EXPECT_GE(counts[OpKind::kAttention], 200);
  EXPECT_GE(counts[OpKind::kElementwise], 200);
  EXPECT_GE(counts[OpKind::kNorm], 200);
  counts = Counts(quick);
  EXPECT_GE(counts[OpKind::kGemm], 600);
  EXPECT_GE(counts[OpKind::kAttention], 40);
  for (const OpKind kind : {OpKind::kElementwise, OpKind::kNorm, OpKind::kSoftmax,
                            OpKind::kOptimizer, OpKind::kSendRecv}) {
    EXPECT_GE(counts[kind], 14) << Name(kind);
  }
}

TEST(ProfileSuiteTest, EightGemmsCalibrateWithinSeconds) {
  SuiteOptions options = Options(SuiteSize::kCalibrate);
  const auto suite = MakeSuite(options);
  EXPECT_EQ(suite.size(), 8u);
  EXPECT_LT(LongestSuite(suite, Hopper(), MeasuringRules()), Duration::Nanoseconds(10'000'000'000));
  for (const ProfileCase& one : suite) EXPECT_EQ(one.op.dtype, DType::kBf16);
  EXPECT_EQ(suite[7].op, Op::Gemm(DType::kBf16, 8192, 12288, 8192));
  // A GPU of 5 TFLOP/s takes shorter ones.
  options.device.peak = {FlopRate(5e12)};
  options.device.memory_bandwidth = Bandwidth(192e9);
  const auto small = MakeSuite(options);
  EXPECT_EQ(small.size(), 8u);
  for (const ProfileCase& one : small) EXPECT_EQ(one.op.dtype, DType::kFp32);
}

TEST(ProfileSuiteTest, NoCaseComesTwiceAndTheSameOptionsGiveTheSameCases) {
  const auto suite = MakeSuite(Options(SuiteSize::kFull));
  EXPECT_EQ(suite, MakeSuite(Options(SuiteSize::kFull)));
  EXPECT_EQ(std::unordered_set<ProfileCase>(suite.begin(), suite.end()).size(), suite.size());
}

TEST(ProfileSuiteTest, NothingTakesMoreThanAnEighthOfTheMemory) {
  SuiteOptions options = Options(SuiteSize::kFull);
  const size_t all = MakeSuite(options).size();
  options.memory = Bytes(int64_t{1} << 30);
  const auto suite = MakeSuite(options);
  EXPECT_LT(suite.size(), all);
  for (const ProfileCase& one : suite) {
    EXPECT_LE(Footprint(one).count(), int64_t{1} << 27) << Describe(one.op);
  }
}

TEST(ProfileSuiteTest, NumbersThatADeviceLacksAreLeftOut) {
  SuiteOptions options = Options(SuiteSize::kQuick);
  const auto count = [&] {
    int eight_bits = 0;
    for (const ProfileCase& one : MakeSuite(options)) eight_bits += one.op.dtype == DType::kFp8;
    return eight_bits;
  };
  EXPECT_GE(count(), 100);
  options.device.peak[static_cast<int>(DType::kFp8)] = FlopRate();
  EXPECT_EQ(count(), 0);
}

TEST(ProfileSuiteTest, LayersAreMeasuredForwardAndBackwardAndInTheirParts) {
  const auto suite = MakeSuite(Options(SuiteSize::kQuick));
  const std::unordered_set<ProfileCase> cases(suite.begin(), suite.end());
  const auto has = [&](std::string_view kernel, int64_t m, int64_t n, int64_t k) {
    return cases.contains({Op::Gemm(DType::kBf16, m, n, k), std::string(kernel)});
  };
  // A projection of 8192 to 10240, whose outputs are divided among eight devices.
  EXPECT_TRUE(has(kLinear, 2048, 1280, 8192));
  EXPECT_TRUE(has(kLinearInputGradient, 2048, 8192, 1280));
  EXPECT_TRUE(has(kLinearWeightGradient, 1280, 8192, 2048));
  // A projection of 28672 to 8192, whose inputs are divided.
  EXPECT_TRUE(has(kLinear, 2048, 8192, 3584));
  EXPECT_FALSE(has(kLinear, 2048, 1024, 28672));
}

TEST(ProfileSuiteTest, AttentionHasBothDirectionsAndGroupedHeads) {
  std::set<std::pair<Direction, bool>> kinds;
  bool is_grouped = false;
  for (const ProfileCase& one : MakeSuite(Options(SuiteSize::kQuick))) {
    if (one.op.kind != OpKind::kAttention) continue;
    kinds.insert({one.op.direction, one.op.causal});
    ASSERT_EQ(one.op.batch % one.op.kv_batch, 0);
    ASSERT_EQ(one.op.kv_batch % one.op.sequences, 0);
    is_grouped = is_grouped || one.op.kv_batch < one.op.batch;
  }
  EXPECT_EQ(kinds.size(), 4u);
  EXPECT_TRUE(is_grouped);
}

TEST(ProfileSuiteTest, BytesAreWholeElementsOfTheirKernel) {
  for (const ProfileCase& one : MakeSuite(Options(SuiteSize::kFull))) {
    const StreamKernel* kernel = FindStreamKernel(one.kernel);
    if (kernel == nullptr) continue;
    ASSERT_EQ(one.op.kind, kernel->kind);
    const int64_t elements = one.op.bytes.count() / kernel->bytes_per_element;
    ASSERT_EQ(elements * kernel->bytes_per_element, one.op.bytes.count()) << one.kernel;
    if (HasRows(one.op.kind)) {
      ASSERT_EQ(elements, one.op.m * one.op.n) << one.kernel;
    }
  }
}

TEST(SobolTest, EveryDimensionVisitsEachSixteenthOnceInSixteenPoints) {
  for (int dimension = 0; dimension < kSobolDimensions; ++dimension) {
    std::set<int> visited;
    for (uint32_t index = 0; index < 16; ++index) {
      visited.insert(static_cast<int>(SobolPoint(index)[dimension] * 16));
    }
    EXPECT_EQ(visited.size(), 16u) << dimension;
  }
}

// The first two dimensions are a (0, 2)-sequence, so each box of 2^-i by 2^-(6-i) contains one of
// 64 points.
TEST(SobolTest, SixtyFourPointsFillEveryBoxOfASixtyFourthOnce) {
  for (int halvings = 0; halvings <= 6; ++halvings) {
    std::set<std::pair<int, int>> boxes;
    for (uint32_t index = 0; index < 64; ++index) {
      const auto point = SobolPoint(index);
      boxes.insert({static_cast<int>(point[0] * (1 << halvings)),
                    static_cast<int>(point[1] * (1 << (6 - halvings)))});
    }
    EXPECT_EQ(boxes.size(), 64u) << halvings;
  }
}

SuiteOptions OnHost(SuiteSize size) {
  SuiteOptions options = Options(size);
  options.device.generation = Generation::kHost;
  options.device.peak.fill(FlopRate(20e9));
  options.device.memory_bandwidth = Bandwidth(5e9);
  options.memory = Bytes(int64_t{2} << 30);
  options.networks[0].linears = {{64, 192, Divided::kOutputs}, {8192, 57344, Divided::kOutputs}};
  return options;
}

// A CPU computes in 32 bits, whatever the format of the plan. Every family has enough cases to
// learn from.
TEST(ProfileSuiteTest, AHostHasCasesOfItsOwn) {
  constexpr int kEnough = 200;
  const auto quick = MakeSuite(OnHost(SuiteSize::kQuick));
  const auto full = MakeSuite(OnHost(SuiteSize::kFull));
  const Device host = OnHost(SuiteSize::kQuick).device;
  EXPECT_LT(LongestSuite(quick, host, RulesFor(host)), 3 * kMinute);
  EXPECT_LT(LongestSuite(full, host, RulesFor(host)), 15 * kMinute);
  std::map<OpKind, int> counts = Counts(quick);
  EXPECT_GE(counts[OpKind::kGemm], kEnough);
  EXPECT_GE(counts[OpKind::kAttention], kEnough);
  const int moves = counts[OpKind::kNorm] + counts[OpKind::kSoftmax] +
                    counts[OpKind::kElementwise] + counts[OpKind::kOptimizer];
  EXPECT_GE(moves, kEnough);
  EXPECT_GE(counts[OpKind::kSparse], kEnough);
  int wide = 0;
  for (const ProfileCase& one : quick) {
    EXPECT_FALSE(IsCollective(one.op.kind));
    if (one.op.kind != OpKind::kElementwise && one.op.kind != OpKind::kOptimizer) {
      EXPECT_EQ(one.op.dtype, DType::kFp32);
    }
    // A GEMM with a side as long as a vocabulary.
    if (one.op.kind == OpKind::kGemm && std::max({one.op.m, one.op.n, one.op.k}) > 16384) ++wide;
  }
  EXPECT_GE(wide, 20);
  EXPECT_GT(full.size(), 2 * quick.size());
  const auto has = [&](const Op& op) {
    return std::find(quick.begin(), quick.end(), ProfileCase{op, std::string(kLinear)}) !=
           quick.end();
  };
  EXPECT_TRUE(has(Op::Gemm(DType::kFp32, 256, 192, 64)));
  EXPECT_FALSE(has(Op::Gemm(DType::kFp32, 1024, 57344, 8192)));  // would take minutes
}

}  // namespace
}  // namespace stagecraft
