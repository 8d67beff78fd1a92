#include "costmodel/learned/family_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/families/tensor_gemm.h"
#include "costmodel/learned/fitted_models_testing.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/learned_testing.h"

namespace stagecraft {
namespace {

std::string ErrorOf(const std::function<void(FamilyModelProto&)>& spoil) {
  static const FamilyModelProto proto = ProductModel().ToProto();
  FamilyModelProto copy = proto;
  spoil(copy);
  try {
    FamilyModel::FromProto(copy, "m.pb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FamilyModelTest, WithoutSamplesTheStructureIsAll) {
  const FamilyModel model(Toy());
  Random random(1);
  const Op op = RandomToyOp(random);
  const Device& device = CatalogueGpu("a100-sxm4-80gb");
  const LogTime time = Predict(model, op, device);
  EXPECT_DOUBLE_EQ(time.log_seconds, std::log(Toy().Describe(op, device, StartOf(Toy()), {})));
  EXPECT_DOUBLE_EQ(time.spread, 0.5 / kSigmas80);
  EXPECT_FALSE(time.is_measured);
  EXPECT_FALSE(model.has_samples());
}

// The noise alone gives a mean error of 0.8 x 3 %.
TEST(FamilyModelTest, AKnownGpuIsPredictedWithinAFewPercent) {
  EXPECT_LT(ErrorsOf(ToyModel(), ToyRows(300, 2)).mean, 0.04);
  EXPECT_LT(ErrorsOf(ProductModel(), ProductRows(300, 2)).mean, 0.07);
}

TEST(FamilyModelTest, IntervalsHoldFourRowsOfFive) {
  for (const double coverage : {ErrorsOf(ToyModel(), ToyRows(300, 3)).coverage,
                                ErrorsOf(ProductModel(), ProductRows(300, 3)).coverage}) {
    EXPECT_GE(coverage, 0.7);
    EXPECT_LE(coverage, 0.9);
  }
}

TEST(FamilyModelTest, KnowsItsGpus) {
  EXPECT_TRUE(ToyModel().Knows(CatalogueGpu("a100-sxm4-80gb")));
  EXPECT_FALSE(ToyModel().Knows(CatalogueGpu("a100-sxm4-40gb")));
  const Op op = Op::Elementwise(Bytes(1 << 20));
  EXPECT_TRUE(Predict(ToyModel(), op, CatalogueGpu("a100-sxm4-80gb")).is_measured);
  EXPECT_FALSE(Predict(ToyModel(), op, CatalogueGpu("a100-sxm4-40gb")).is_measured);
}

Device FarAway() {
  Device device = CatalogueGpu("a100-sxm4-80gb");
  device.id = "far";
  device.multiprocessors *= 30;
  return device;
}

TEST(FamilyModelTest, AFarGpuTakesMeanConstantsAndTheFamilysShare) {
  const FamilyModelProto proto = ToyModel().ToProto();
  std::vector<double> mean(3, 1);
  for (const GpuConstantsProto& gpu : proto.boards()) {
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] *= std::cbrt(gpu.constants(static_cast<int>(i)));
    }
  }
  const BoostedTrees trees = BoostedTrees::FromProto(proto.trees(), "trees");
  const BoostedTrees spread_trees = BoostedTrees::FromProto(proto.spread_trees(), "trees");
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const Op op = RandomToyOp(random);
    std::vector<float> features(3);
    const double base = std::log(Toy().Describe(op, FarAway(), mean, features));
    double correction = 0;
    trees.AddTo(features, {&correction, 1});
    const LogTime time = Predict(ToyModel(), op, FarAway());
    EXPECT_NEAR(time.log_seconds, base + 0.5 * correction, 1e-9);
    double log_spread = 0;
    spread_trees.AddTo(features, {&log_spread, 1});
    EXPECT_NEAR(time.spread,
                proto.unknown_factor() * proto.known_factor() * std::exp(log_spread) / kSigmas80,
                1e-5);  // an op may be a little larger than all samples
  }
}

// Walks from a GPU type to one with thirty times its rates, bandwidth and L2, which grow by 1 % at
// a step, and expects that no step changes the time by 5 %.
void ExpectSteadyWalk(const FamilyModel& model, const Op& op, const std::string& gpu) {
  const Device& start = CatalogueGpu(gpu);
  double last = Predict(model, op, start).log_seconds;
  for (double factor = 1.0001; factor < 30; factor *= 1.01) {
    Device device = start;
    device.id = "walking";
    device.memory_bandwidth = factor * start.memory_bandwidth;
    device.l2 = Bytes(std::llround(factor * static_cast<double>(start.l2.count())));
    for (FlopRate& peak : device.peak) peak = factor * peak;
    device.vector_peak = factor * device.vector_peak;
    const double next = Predict(model, op, device).log_seconds;
    ASSERT_LT(std::abs(next - last), 0.05) << gpu << ", " << Describe(op) << ", " << factor;
    last = next;
  }
}

TEST(FamilyModelTest, WalkingAwayFromAGpuChangesTimesSteadily) {
  Random random(5);
  for (const std::string& gpu : kToyGpus) {
    for (int i = 0; i < 5; ++i) ExpectSteadyWalk(ToyModel(), RandomToyOp(random), gpu);
  }
}

// Two GPU types are near each other, but their constants are not: a device a step away from one
// must not take half of the other's constants.
TEST(FamilyModelTest, AStepAwayFromAGpuWithNeighboursIsASmallOne) {
  Device near = CatalogueGpu("a100-sxm4-80gb");
  near.id = "near";
  near.memory_bandwidth = 1.1 * near.memory_bandwidth;
  SyntheticRows rows = ToyRows(300, 6);
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const Op op = RandomToyOp(random);
    const double constants[] = {5e-6, 0.9, 1};
    rows.Add(op, near, std::log(Toy().Describe(op, near, constants, {})) + ToyCorrection(op));
  }
  const FamilyModel model = FamilyModel::Fit(Toy(), rows.rows);
  const Device& start = CatalogueGpu("a100-sxm4-80gb");
  Device step = start;
  step.id = "step";
  step.memory_bandwidth = 1.0001 * start.memory_bandwidth;
  const Op op = Op::Elementwise(Bytes(1'000'000'000));
  EXPECT_NEAR(Predict(model, op, step).log_seconds, Predict(model, op, start).log_seconds, 0.05);
}

Op RandomOpOf(const KernelFamily& family, Random& random) {
  constexpr double kMost = 1 << 24;
  const std::string name = family.name();
  const int64_t a = SizeBetween(random, 1, kMost);
  const int64_t b = SizeBetween(random, 1, kMost);
  const int64_t c = SizeBetween(random, 1, kMost);
  const int64_t batch = SizeBetween(random, 2, 1000);
  if (name == "tensor_gemm") return Op::Gemm(DType::kFp16, a, b, c);
  if (name == "fp32_linear" || name == "host_product") return Op::Gemm(DType::kFp32, a, b, c);
  if (name == "fp32_bmm") return Op::Gemm(DType::kFp32, a, b, c, batch);
  if (name.find("attention") != name.npos) {
    const DType dtype = name.ends_with("8_bits") ? DType::kFp8 : DType::kFp16;
    Op op = Op::Attention(dtype, Direction::kForward, batch, a, b, SizeBetween(random, 1, 512),
                          random.Uniform() < 0.5);
    op.attention_kernel = name.starts_with("fused")    ? AttentionKernel::kFused
                          : name.starts_with("triton") ? AttentionKernel::kTriton
                                                       : AttentionKernel::kFlash;
    return op;
  }
  if (name == "host_sparse") {
    return Op::Sparse(DType::kFp32, Direction::kForward, a, b, c, SizeBetween(random, 1, b * c));
  }
  const OpKind kind = name == "norm" ? OpKind::kNorm : OpKind::kSoftmax;
  if (name == "stream" || name == "host_move") return Op::Elementwise(Bytes(a * c));
  return Op::Rowwise(kind, DType::kFp16, a, c, Bytes(4 * a * c));
}

// Returns a model that is calibrated on times far shorter than possible, which must not be
// believed.
FamilyModel TooFast(const FamilyModel& model, Random& random) {
  SyntheticRows rows;
  const Device& gpu = CatalogueGpu("h100-sxm5-80gb");
  for (int i = 0; i < 20; ++i) {
    const Op op = RandomOpOf(model.family(), random);
    rows.Add(op, gpu, Predict(model, op, gpu).log_seconds - 1);
  }
  return model.Calibrated(rows.rows).model;
}

void ExpectAboveRoofline(const FamilyModel& model, const Op& op, const Device& device) {
  const LogTime time = Predict(model, op, device);
  ASSERT_TRUE(std::isfinite(time.log_seconds) && std::isfinite(time.spread) && time.spread >= 0)
      << model.family().name() << ", " << device.id << ", " << Describe(op);
  EXPECT_GE(std::exp(time.log_seconds), 0.98 * RooflineTime(op, device).seconds() * (1 - 1e-9))
      << model.family().name() << ", " << device.id << ", " << Describe(op);
}

TEST(FamilyModelTest, NothingBeatsTheRoofline) {
  const uint64_t seed = 20240610;
  Random random(seed);
  const auto entries = DeviceCatalogue::Embedded().entries();
  for (const KernelFamily* family : KernelFamilies()) {
    const FamilyModel plain(*family);
    const FamilyModel fast = TooFast(plain, random);
    for (int sample = 0; sample < 2000; ++sample) {
      const Op op = RandomOpOf(*family, random);
      const Device& device = entries[sample % entries.size()].device;
      if (!CanCompute(op, device)) continue;
      ExpectAboveRoofline(plain, op, device);
      ExpectAboveRoofline(fast, op, device);
      if (family == &TensorGemmFamily()) ExpectAboveRoofline(ProductModel(), op, device);
    }
  }
}

// Two GPU types with samples, a relative of one of them, and one unlike all.
const char* const kRayGpus[] = {"a100-sxm4-80gb", "l40s-48gb", "a100-sxm4-40gb", "t4-16gb"};

TEST(FamilyModelTest, EightTimesASizeNeverCostsLess) {
  const uint64_t seed = 20240611;
  Random random(seed);
  for (int ray = 0; ray < 1000; ++ray) {
    Device device = CatalogueGpu(kRayGpus[ray % 4]);
    if (ray % 2 == 1) device.clock_share = 0.8;
    if (ray % 3 == 1) device = AsSampled(device);
    Op op = RandomProduct(random);
    op.dtype = DType::kFp16;
    const double small = Predict(ProductModel(), op, device).log_seconds;
    int64_t& size = ray % 3 == 0 ? op.m : ray % 3 == 1 ? op.n : op.k;
    size *= 8;
    ASSERT_GE(Predict(ProductModel(), op, device).log_seconds, small - 1e-9)
        << device.id << ", " << Describe(op) << ", seed " << seed;
  }
}

// Twice a size takes no less than three quarters of the time.
TEST(FamilyModelTest, TwiceASizeNeverSavesAQuarter) {
  const uint64_t seed = 20240612;
  Random random(seed);
  for (int ray = 0; ray < 1000; ++ray) {
    const Device& device = CatalogueGpu(kRayGpus[ray % 4]);
    Op op = RandomProduct(random);
    op.dtype = DType::kFp16;
    const double small = Predict(ProductModel(), op, device).log_seconds;
    int64_t& size = ray % 3 == 0 ? op.m : ray % 3 == 1 ? op.n : op.k;
    size *= 2;
    EXPECT_GE(Predict(ProductModel(), op, device).log_seconds, small + std::log(0.75))
        << device.id << ", " << Describe(op) << ", seed " << seed;
  }
}

TEST(FamilyModelTest, AProtoHoldsAllOfIt) {
  const FamilyModel read = FamilyModel::FromProto(ProductModel().ToProto(), "m.pb");
  EXPECT_EQ(read.ToProto().SerializeAsString(), ProductModel().ToProto().SerializeAsString());
  Random random(11);
  for (const char* gpu : kRayGpus) {
    for (int i = 0; i < 20; ++i) {
      Op op = RandomProduct(random);
      op.dtype = DType::kFp16;
      const LogTime a = Predict(ProductModel(), op, CatalogueGpu(gpu));
      const LogTime b = Predict(read, op, CatalogueGpu(gpu));
      EXPECT_EQ(a.log_seconds, b.log_seconds);
      EXPECT_EQ(a.spread, b.spread);
      EXPECT_EQ(a.is_measured, b.is_measured);
    }
  }
}

TEST(FamilyModelTest, TheSameRowsGiveTheSameBytes) {
  const SyntheticRows rows = ToyRows(200, 12);
  EXPECT_EQ(FamilyModel::Fit(Toy(), rows.rows).ToProto().SerializeAsString(),
            FamilyModel::Fit(Toy(), rows.rows).ToProto().SerializeAsString());
}

TEST(FamilyModelTest, WhatIsNoModelIsRefused) {
  EXPECT_EQ(ErrorOf([](auto&) {}), "");
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.set_family("abacus"); }),
            "m.pb.family: got \"abacus\", which this version does not know");
  EXPECT_EQ(
      ErrorOf([](auto& proto) { proto.mutable_boards(1)->mutable_constants()->RemoveLast(); }),
      "m.pb.boards[1].constants: got 19, want 20");
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_boards(0)->set_constants(4, -1); }),
            "m.pb.boards[0].constants[4]: got -1, want from 0.00094 to 940 (rate of tensor_gemm)");
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_boards(0)->set_share(1.5); }),
            "m.pb.boards[0].share: got 1.5, want from 0 to 1");
  const std::string columns = " columns, want the 47 features of tensor_gemm";
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_trees()->set_columns(48); }),
            "m.pb.trees: got 48" + columns);
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_spread_trees()->set_columns(48); }),
            "m.pb.spread_trees: got 48" + columns);
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.set_unknown_factor(-1); }),
            "m.pb.unknown_factor: got -1, want from 1 to 100");
  EXPECT_NE(ErrorOf([](auto& proto) { proto.mutable_boards(0)->clear_device(); }), "");
}

}  // namespace
}  // namespace stagecraft
