#include "costmodel/learned/gpu_range.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/error_of.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/learned/family_model.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/learned_testing.h"

namespace stagecraft {
namespace {

const char* const kGpus[] = {"h100-sxm", "v100-sxm2-16gb", "l40s-48gb", "b200"};

// Returns small, usual and large ops of a family, in formats for which the GPU has a rate.
std::vector<Op> Ops(const KernelFamily& family, const Device& gpu) {
  std::vector<Op> ops;
  for (const int64_t size : {1, 100, 4096, 1 << 20}) {
    for (const DType dtype : {DType::kFp32, DType::kFp16, DType::kFp8, DType::kNvfp4}) {
      for (const Op& op :
           {Op::Gemm(dtype, size, size, size), Op::Gemm(dtype, size, 64, 64, 8),
            Op::Attention(dtype, Direction::kForward, 16, size, size, 128, true),
            Op::Attention(dtype, Direction::kBackward, 16, size, size, 128, true),
            Op::Sparse(dtype, Direction::kForward, size, 64, 64, 400),
            Op::Elementwise(Bytes(4 * size)),
            Op::Rowwise(OpKind::kNorm, dtype, size, size, Bytes(4 * size * size)),
            Op::Rowwise(OpKind::kSoftmax, dtype, size, size, Bytes(4 * size * size))}) {
        const bool has_rate = gpu.Peak(dtype) > FlopRate() || !HasOperands(op.kind);
        for (const AttentionKernel kernel :
             {AttentionKernel::kFlash, AttentionKernel::kFused, AttentionKernel::kTriton}) {
          Op named = op;
          if (op.kind == OpKind::kAttention) named.attention_kernel = kernel;
          if (family.Covers(named, gpu) && has_rate) ops.push_back(named);
        }
      }
    }
  }
  return ops;
}

Device GpuOf(const char* name) { return DeviceCatalogue::Embedded().Get(name, "board").device; }

// Returns a model that knows one GPU type, with these constants.
FamilyModelProto ModelWith(const KernelFamily& family, const Device& device,
                           const std::vector<double>& constants) {
  FamilyModelProto proto = FamilyModel(family).ToProto();
  GpuConstantsProto& gpu = *proto.add_boards();
  *gpu.mutable_device() = ToProto(device);
  for (const double constant : constants) gpu.add_constants(constant);
  gpu.set_share(1);
  gpu.set_nearness(1);
  return proto;
}

std::string Refusal(const FamilyModelProto& proto) {
  return ErrorOf([&] { FamilyModel::FromProto(proto, "m.pb"); });
}

void ExpectTimes(const FamilyModelProto& proto, const KernelFamily& family) {
  const FamilyModel model = FamilyModel::FromProto(proto, "m.pb");
  for (const char* name : kGpus) {
    const Device gpu = GpuOf(name);
    for (const LogTime& time : model.Predict(Ops(family, gpu), gpu)) {
      EXPECT_TRUE(std::isfinite(time.log_seconds)) << proto.family();
      EXPECT_TRUE(time.spread >= 0 && time.spread < 4) << proto.family();
      EXPECT_GE(Duration::Seconds(std::exp(time.log_seconds)), Duration());
    }
  }
}

TEST(GpuRangeTest, WithinTheRangesEveryTimeIsATime) {
  for (const KernelFamily* family : KernelFamilies()) {
    ASSERT_FALSE(Ops(*family, GpuOf("h100-sxm")).empty()) << family->name();
    const std::vector<double> start = StartOf(*family);
    for (const char* name : kGpus) {
      const Device gpu = GpuOf(name);
      for (const double factor : {0.00101, 0.1, 10.0, 999.0}) {
        std::vector<double> all = start;
        for (size_t i = 0; i < start.size(); ++i) {
          std::vector<double> one = start;
          one[i] *= factor;
          all[i] *= i % 2 == 0 ? factor : 1 / factor;
          ExpectTimes(ModelWith(*family, gpu, one), *family);
        }
        FamilyModelProto proto = ModelWith(*family, gpu, all);
        proto.set_known_factor(5);
        proto.set_unknown_factor(100);
        for (const double offset : {-6.9, 6.9}) {
          proto.mutable_boards(0)->set_offset(offset);
          ExpectTimes(proto, *family);
        }
      }
    }
  }
}

TEST(GpuRangeTest, ConstantsBeyondAreRefusedByName) {
  const Device gpu = GpuOf("h100-sxm");
  for (const KernelFamily* family : KernelFamilies()) {
    const std::vector<double> start = StartOf(*family);
    EXPECT_EQ(Refusal(ModelWith(*family, gpu, start)), "");
    for (size_t i = 0; i < start.size(); ++i) {
      for (const double value :
           {0.0, -1.0, 1e-300, 1e21 * start[i], 1001 * start[i], start[i] / 1001, std::nan(""),
            std::numeric_limits<double>::infinity()}) {
        std::vector<double> constants = start;
        constants[i] = value;
        const std::string refusal = Refusal(ModelWith(*family, gpu, constants));
        EXPECT_EQ(
            refusal.find(fmt::format("m.pb.boards[0].constants[{}]: got {}, want from ", i, value)),
            0u)
            << refusal;
        EXPECT_NE(refusal.find(family->constants()[i].name), std::string::npos) << refusal;
      }
    }
  }
}

TEST(GpuRangeTest, EveryOtherNumberBeyondItsRangeIsRefusedByName) {
  const KernelFamily& family = *KernelFamilies()[0];
  const FamilyModelProto sound = ModelWith(family, GpuOf("h100-sxm"), StartOf(family));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {-8.0, 7.0, 1e21, -1e300, infinity, -infinity, std::nan("")}) {
    const auto expect = [&](const char* field, const auto& set) {
      FamilyModelProto proto = sound;
      set(proto);
      EXPECT_EQ(Refusal(proto).find(fmt::format("m.pb.{}: got {}, want from ", field, value)), 0u)
          << Refusal(proto);
    };
    expect("boards[0].share", [&](auto& proto) { proto.mutable_boards(0)->set_share(value); });
    expect("boards[0].offset", [&](auto& proto) { proto.mutable_boards(0)->set_offset(value); });
    expect("boards[0].nearness",
           [&](auto& proto) { proto.mutable_boards(0)->set_nearness(value); });
    expect("boards[0].widening",
           [&](auto& proto) { proto.mutable_boards(0)->set_widening(value); });
    expect("known_factor", [&](auto& proto) { proto.set_known_factor(value); });
  }
  for (const double value : {0.0, 0.9, 101.0, -infinity, std::nan("")}) {
    FamilyModelProto proto = sound;
    proto.set_unknown_factor(value);
    EXPECT_EQ(Refusal(proto).find(fmt::format("m.pb.unknown_factor: got {}, want from ", value)),
              0u)
        << Refusal(proto);
  }
}

// The trees have one leaf each; there are two.
TEST(GpuRangeTest, LeavesThatAddUpToTooMuchAreRefused) {
  const KernelFamily& family = *KernelFamilies()[0];
  for (const float leaf : {60.0F, -60.0F, 1e30F, 3e38F}) {
    FamilyModelProto proto = FamilyModel(family).ToProto();
    BoostedTreesProto& trees = *proto.mutable_spread_trees();
    trees.set_columns(family.feature_count());
    for (int tree = 0; tree < 2; ++tree) {
      EXPECT_EQ(Refusal(proto).empty(), tree == 0 || std::abs(leaf) <= 100);
      trees.add_roots(tree);
      trees.add_values(leaf);
      trees.add_left(0);
      trees.add_split_columns(0);
    }
    EXPECT_EQ(Refusal(proto),
              fmt::format("m.pb.spread_trees.values: got leaves whose largest add up to {:g}, want "
                          "at most 100",
                          2 * std::abs(static_cast<double>(leaf))));
  }
}

// A hundred rows are e^20 times slower than any kernel.
TEST(GpuRangeTest, SamplesThatNoFileCouldHoldAreRefused) {
  const FamilyModel model(*KernelFamilies()[0]);
  const Device& gpu = CatalogueGpu("a30-24gb");
  SyntheticRows rows;
  for (int i = 1; i <= 100; ++i) {
    const Op op = Op::Gemm(DType::kFp16, 64 * i, 1024, 1024);
    rows.Add(op, gpu, model.Predict(std::vector{op}, gpu)[0].log_seconds + 20);
  }
  const std::string refusal = ErrorOf([&] { model.Calibrated(rows.rows); });
  EXPECT_EQ(refusal.find("calibration."), 0u) << refusal;
}

}  // namespace
}  // namespace stagecraft
