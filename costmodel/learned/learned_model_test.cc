#include "costmodel/learned/learned_model.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/learned/families/attention.h"
#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/families/tensor_gemm.h"
#include "costmodel/learned/learned_testing.h"
#include "costmodel/learned/measured_times.h"
#include "costmodel/network/network_model.h"
#include "costmodel/proto_file.h"

namespace stagecraft {
namespace {

constexpr char kA100[] = "a100-sxm4-80gb";
constexpr char kH100[] = "h100-sxm5-80gb";

Op RandomAttention(Random& random) {
  const int64_t heads = 8 * SizeBetween(random, 1, 32);
  const int64_t length = SizeBetween(random, 128, 8192);
  Op op = Op::Attention(DType::kBf16, Direction::kForward, heads, length, length, 128, true);
  op.use = AttentionUse::kServing;
  return op;
}
Op RandomStream(Random& random) { return Op::Elementwise(Bytes(SizeBetween(random, 1e5, 1e9))); }

// Returns samples of GEMMs, which differ from their family's times by a wave in m, and of streams
// and attention, which differ by a tenth.
std::vector<Sample> Samples(int per_family) {
  std::vector<Sample> samples;
  Random random(1);
  for (const char* gpu : {kA100, kH100}) {
    for (int i = 0; i < per_family; ++i) {
      const double error = Noise(random, 0.03);
      const Op product = RandomProduct(random);
      const double wave = 0.15 * std::sin(std::log(static_cast<double>(product.m)));
      samples.push_back(SampleOf(TensorGemmFamily(), product, gpu, error + wave));
      samples.push_back(SampleOf(StreamFamily(), RandomStream(random), gpu, error + 0.1));
      samples.push_back(SampleOf(AttentionFamily(), RandomAttention(random), gpu, error - 0.1));
      samples.back().name = "flash_attention";
    }
  }
  return samples;
}

const LearnedModel& Model() {
  static const LearnedModel model = LearnedModel::Fit(Samples(150));
  return model;
}

Fabric EightRanks() {
  Fabric fabric;
  fabric.ranks = 8;
  fabric.ranks_per_node = 8;
  fabric.intra = {LinkKind::kNvlink, Duration(), Bandwidth(300e9)};
  return fabric;
}

std::vector<Op> Mixture(int count) {
  std::vector<Op> ops;
  Random random(2);
  for (int i = 0; i < count; ++i) {
    ops.push_back(RandomProduct(random));
    ops.push_back(RandomStream(random));
    ops.push_back(RandomAttention(random));
    ops.push_back(Op::Gemm(DType::kFp32, 1 + i, 64, 64));
    ops.push_back(Op::Collective(OpKind::kAllReduce, Bytes(1 << 20), EightRanks()));
    ops.push_back(Op());
  }
  return ops;
}

Estimate Predict(const LearnedModel& model, const Op& op, const std::string& gpu) {
  return model.Predict({&op, 1}, CatalogueGpu(gpu))[0];
}

std::string ErrorOf(const std::string& file, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + file;
  WriteFileAtomically(path, bytes);
  try {
    LearnedModel::Read(path);
  } catch (const InputError& error) {
    std::string text = error.what();
    const size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), file);
  }
  return "";
}

TEST(LearnedModelTest, AGpuWithSamplesIsLearned) {
  const Op product = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
  EXPECT_EQ(Predict(Model(), product, kA100).basis, Basis::kLearned);
  EXPECT_EQ(Predict(Model(), Op::Elementwise(Bytes(1 << 24)), kH100).basis, Basis::kLearned);
}

TEST(LearnedModelTest, OtherGpusAndRelativesAreExtrapolated) {
  const Op product = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
  EXPECT_EQ(Predict(Model(), product, "h200-sxm5-141gb").basis, Basis::kExtrapolated);
  const Op batched = Op::Gemm(DType::kBf16, 128, 128, 128, 64);
  EXPECT_EQ(Predict(Model(), batched, kA100).basis, Basis::kExtrapolated);
  const Op backward = Op::Attention(DType::kBf16, Direction::kBackward, 8, 512, 512, 128, true);
  EXPECT_EQ(Predict(Model(), backward, kA100).basis, Basis::kExtrapolated);
  // There are no samples of this family.
  const Op fp32 = Op::Gemm(DType::kFp32, 512, 512, 512);
  EXPECT_EQ(Predict(Model(), fp32, kA100).basis, Basis::kExtrapolated);
}

TEST(LearnedModelTest, FarFromTheSizesOfSamplesIntervalsAreWiderAndSaySo) {
  const auto at = [](int64_t bytes) {
    return Predict(Model(), Op::Elementwise(Bytes(bytes)), kA100);
  };
  const Estimate inside = at(1 << 24), far = at(int64_t{1} << 40);
  EXPECT_EQ(inside.basis, Basis::kLearned);
  EXPECT_EQ(far.basis, Basis::kExtrapolated);
  EXPECT_GT(far.spread, 2 * inside.spread);
}

// No larger op is left to compare with: eight times these sizes would not be a 64-bit number.
TEST(LearnedModelTest, OpsThatCannotGrowAreEstimatedToo) {
  constexpr int64_t kLarge = int64_t{1} << 60;
  for (const Op& op :
       {Op::Gemm(DType::kBf16, kLarge, 32, 32), Op::Gemm(DType::kBf16, 32, kLarge, 32),
        Op::Gemm(DType::kBf16, 32, 32, kLarge)}) {
    EXPECT_GT(Predict(LearnedModel::Shipped(), op, kA100).time, Duration()) << Describe(op);
  }
}

// Products, attention and what moves bytes, each of a few milliseconds at most.
std::vector<Op> ShortOps() {
  std::vector<Op> ops = {Op::Elementwise(Bytes(1 << 28)), Op::Optimizer(Bytes(1 << 28), 1)};
  for (const int64_t m : {256, 1024, 4096}) {
    for (const int64_t n : {256, 1024, 4096}) {
      for (const int64_t k : {1024, 4096}) {
        ops.push_back(Op::Gemm(DType::kBf16, m, n, k));
        ops.push_back(Op::Gemm(DType::kFp32, m, n, k));
      }
    }
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      ops.push_back(Op::Attention(DType::kBf16, direction, 32, m, m, 128, true));
    }
  }
  return ops;
}

// Without pauses, board power limits the clock of short kernels, too.
TEST(LearnedModelTest, AGpuThatComputesWithoutPausesIsNoFaster) {
  const std::vector<Op> ops = ShortOps();
  for (const char* gpu : {kA100, kH100, "b200-sxm-180gb"}) {
    const Device& with_pauses = CatalogueGpu(gpu);
    ASSERT_FALSE(with_pauses.is_busy);
    Device busy = with_pauses;
    busy.is_busy = true;
    const std::vector<Estimate> paused = LearnedModel::Shipped().Predict(ops, with_pauses);
    const std::vector<Estimate> without = LearnedModel::Shipped().Predict(ops, busy);
    for (size_t i = 0; i < ops.size(); ++i) {
      EXPECT_GE(without[i].time, paused[i].time) << gpu << ", " << Describe(ops[i]);
    }
  }
  const Op product = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
  Device busy = CatalogueGpu(kH100);
  busy.is_busy = true;
  const Estimate slower = LearnedModel::Shipped().Predict({&product, 1}, busy)[0];
  EXPECT_GT(slower.time, Predict(LearnedModel::Shipped(), product, kH100).time);
}

TEST(LearnedModelTest, WhatNoFamilyCoversIsAnalytical) {
  const std::vector<Op> ops = {Op(), Op::Profiled(2, 5_us),
                               Op::Convolution(DType::kFp32, 1, 64, 64, 64, Bytes(1 << 20))};
  EXPECT_EQ(Model().Predict(ops, CatalogueGpu(kA100)),
            AnalyticalModel(EmbeddedNcclTuning()).Predict(ops, CatalogueGpu(kA100)));
}

TEST(LearnedModelTest, CollectivesAreThoseOfTheNetworkModel) {
  const Op ops[] = {Op::Collective(OpKind::kAllReduce, Bytes(1 << 24), EightRanks())};
  const Device gpu = CatalogueGpu(kA100);
  const Estimate estimate = Model().Predict(ops, gpu)[0];
  const Estimate shipped = NetworkModel::Shipped().Predict(ops, gpu)[0].estimate;
  EXPECT_EQ(estimate.time, shipped.time);
  EXPECT_EQ(estimate.basis, shipped.basis);
  EXPECT_GT(estimate.host, Duration());
  const NetworkModel formula = NetworkModel::Fit({});
  const Estimate nominal = Model().WithNetwork(formula).Predict(ops, gpu)[0];
  EXPECT_EQ(nominal.time, formula.Predict(ops, gpu)[0].estimate.time);
}

// The noise is 3 %.
TEST(LearnedModelTest, KnownGpusArePredictedWithinAFewPercent) {
  double sum = 0;
  int count = 0;
  for (const Sample& sample : Samples(40)) {
    const Estimate estimate = Predict(Model(), sample.op, sample.gpu);
    sum += std::abs(std::log(estimate.time.seconds() / sample.time.seconds()));
    ++count;
  }
  EXPECT_LT(sum / count, 0.05);
}

TEST(LearnedModelTest, BatchesAndSingleOpsAreEstimatedAlike) {
  const std::vector<Op> ops = Mixture(50);
  for (const char* gpu : {kA100, "h200-sxm5-141gb"}) {
    const std::vector<Estimate> batch = Model().Predict(ops, CatalogueGpu(gpu));
    ASSERT_EQ(batch.size(), ops.size());
    EXPECT_EQ(Model().Predict(ops, CatalogueGpu(gpu)), batch);
    for (size_t i = 0; i < ops.size(); ++i) {
      EXPECT_EQ(Predict(Model(), ops[i], gpu), batch[i]) << Describe(ops[i]);
    }
  }
  EXPECT_TRUE(Model().Predict({}, CatalogueGpu(kA100)).empty());
}

TEST(LearnedModelTest, ThreadsPredictAtOnceWhatOneDoes) {
  const std::vector<Op> ops = Mixture(100);
  const LearnedModel copy = Model();
  const std::vector<Estimate> alone = Model().Predict(ops, CatalogueGpu(kA100));
  std::vector<std::future<std::vector<Estimate>>> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.push_back(std::async(std::launch::async, [&, thread] {
      const char* gpu = thread % 2 == 0 ? kA100 : "h200-sxm5-141gb";
      copy.Predict(ops, CatalogueGpu(gpu));
      return copy.Predict(ops, CatalogueGpu(kA100));
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), alone);
}

TEST(LearnedModelTest, TheSameSamplesGiveTheSameBytes) {
  const std::vector<Sample> samples = Samples(20);
  EXPECT_EQ(LearnedModel::Fit(samples).ToProto().SerializeAsString(),
            LearnedModel::Fit(samples).ToProto().SerializeAsString());
}

TEST(LearnedModelTest, FittingSaysWhatItFits) {
  std::vector<std::string> lines;
  std::vector<Sample> samples = {
      SampleOf(StreamFamily(), Op::Elementwise(Bytes(1 << 24)), kA100, 0)};
  samples.push_back(samples[0]);
  samples[1].gpu = "abacus";
  LearnedModel::Fit(samples, [&](const std::string& line) { lines.push_back(line); });
  EXPECT_EQ(lines, std::vector<std::string>{"stream: 1 samples"});
}

// A GPU type of which only serving kernels were measured is predicted by them.
TEST(LearnedModelTest, ServingKernelsPredictTheirOwnGpus) {
  std::vector<Sample> samples = Samples(40);
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    samples.push_back(SampleOf(AttentionFamily(), RandomAttention(random), "b200-sxm-180gb", 0.7));
    samples.back().name = "xqa";
  }
  const LearnedModel model = LearnedModel::Fit(samples);
  Op op = samples.back().op;
  EXPECT_EQ(Predict(model, op, "b200-sxm-180gb").basis, Basis::kLearned);
  EXPECT_NEAR(Predict(model, op, "b200-sxm-180gb").time.seconds() / samples.back().time.seconds(),
              1, 0.2);
  op.use = AttentionUse::kTraining;
  EXPECT_EQ(Predict(model, op, "b200-sxm-180gb").basis, Basis::kExtrapolated);
}

TEST(LearnedModelTest, ACalibrationCutsTheErrorAndSaysSo) {
  std::vector<Sample> site, rest;
  Random random(4);
  for (int i = 0; i < 55; ++i) {
    Sample sample = SampleOf(StreamFamily(), RandomStream(random), "a30-24gb", 0);
    sample.time = Duration::Seconds(1.2 * Predict(Model(), sample.op, "a30-24gb").time.seconds());
    (i < 5 ? site : rest).push_back(sample);
  }
  const CalibratedModel calibrated = Model().Calibrated(site);
  EXPECT_EQ(calibrated.rows, 5);
  ASSERT_EQ(calibrated.changes.size(), 1u);
  EXPECT_TRUE(calibrated.changes[0].starts_with("stream: all x 1.")) << calibrated.changes[0];
  for (const Sample& sample : rest) {
    const Estimate estimate = Predict(calibrated.model, sample.op, "a30-24gb");
    EXPECT_NEAR(estimate.time.seconds() / sample.time.seconds(), 1, 0.1);
    EXPECT_EQ(estimate.basis, Basis::kCalibrated);
  }
  // A file keeps what calibrated it, and so does a GPU type that was measured before.
  const LearnedModel read = LearnedModel::FromProto(calibrated.model.ToProto(), "m");
  EXPECT_EQ(Predict(read, site[0].op, "a30-24gb").basis, Basis::kCalibrated);
  Sample known = SampleOf(StreamFamily(), RandomStream(random), kA100, 0);
  const LearnedModel again = Model().Calibrated({&known, 1}).model;
  EXPECT_EQ(Predict(again, known.op, kA100).basis, Basis::kCalibrated);
  EXPECT_EQ(Predict(again, known.op, kH100).basis, Basis::kLearned);
  site.push_back(SampleOf(StreamFamily(), RandomStream(random), kA100, 0));
  try {
    Model().Calibrated(site);
    ADD_FAILURE() << "took two GPU types";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "calibration: got samples of a30-24gb and a100-sxm4-80gb, want those of one GPU type");
  }
}

TEST(LearnedModelTest, AnOpThatWasMeasuredTakesWhatItTook) {
  Sample sample = Samples(1)[0];
  sample.time = 77_us;
  sample.spread = 0.01;
  const LearnedModel model = Model().WithMeasured({&sample, 1});
  EXPECT_EQ(model.measured_ops(), 1u);
  const Estimate usual = Predict(Model(), sample.op, sample.gpu);
  const Estimate measured = Predict(model, sample.op, sample.gpu);
  EXPECT_EQ(measured, (Estimate{77_us, Basis::kMeasured, 0.01, usual.host}));
  const LearnedModel read = LearnedModel::FromProto(model.ToProto(), "m.pb");
  EXPECT_EQ(Predict(read, sample.op, sample.gpu), measured);
  EXPECT_EQ(Predict(model.WithoutMeasured(), sample.op, sample.gpu), usual);
  const std::vector<Op> others = Mixture(30);
  const Device& gpu = CatalogueGpu(sample.gpu);
  EXPECT_EQ(model.Predict(others, gpu), Model().Predict(others, gpu));
}

TEST(LearnedModelTest, SamplesOfWholeCallsAndOfUnknownGpusAreNotWhatOpsTake) {
  std::vector<Sample> samples = Samples(3);
  samples.resize(3);
  samples[1].times_whole_calls = true;
  samples[2].gpu = "a-gpu-of-nobody";
  const LearnedModel model = Model().WithMeasured(samples);
  EXPECT_EQ(model.measured_ops(), 1u);
  EXPECT_EQ(Predict(model, samples[0].op, samples[0].gpu).time, samples[0].time);
  const std::vector<Sample> too_many(MeasuredTimes::kMost + 1, samples[0]);
  EXPECT_EQ(Model().WithMeasured(too_many).measured_ops(), 0u);
}

TEST(LearnedModelTest, AFileHoldsAllOfIt) {
  const std::string path = ::testing::TempDir() + "/model.pb";
  WriteFileAtomically(path, Model().ToProto().SerializeAsString());
  const LearnedModel read = LearnedModel::Read(path);
  EXPECT_EQ(read.ToProto().SerializeAsString(), Model().ToProto().SerializeAsString());
  const std::vector<Op> ops = Mixture(30);
  for (const char* gpu : {kA100, "h200-sxm5-141gb"}) {
    EXPECT_EQ(read.Predict(ops, CatalogueGpu(gpu)), Model().Predict(ops, CatalogueGpu(gpu)));
  }
}

TEST(LearnedModelTest, WhatIsNoModelIsRefused) {
  EXPECT_EQ(ErrorOf("zero.textproto", "schema: 0"),
            "zero.textproto: schema: got 0, want 2; is it a cost model?");
  EXPECT_EQ(ErrorOf("three.textproto", "schema: 3"),
            "three.textproto: schema: got 3, want 2; is it a cost model?");
  EXPECT_EQ(ErrorOf("one.textproto", "schema: 1"),
            "one.textproto: schema: got 1, want 2; an older version fitted it: fit it again");
  CostModelProto proto;
  proto.set_provenance("nowhere");
  EXPECT_EQ(ErrorOf("zero.pb", proto.SerializeAsString()),
            "zero.pb: schema: got 0, want 2; is it a cost model?");
  EXPECT_EQ(
      ErrorOf("family.textproto", "schema: 2 families { family: \"abacus\" }"),
      "family.textproto: families[0].family: got \"abacus\", which this version does not know");
  for (const std::string file : {"rubbish.pb", "rubbish.textproto", "rubbish.json"}) {
    const std::string error = ErrorOf(file, "This is no model.\n");
    EXPECT_TRUE(error.starts_with(file)) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  for (const std::string file : {"empty.pb", "empty.textproto"}) {
    EXPECT_TRUE(ErrorOf(file, "").starts_with(file)) << ErrorOf(file, "");
  }
  EXPECT_THROW(LearnedModel::Read("/nowhere/model.pb"), InputError);
}

TEST(LearnedModelTest, FamiliesAreThereOnce) {
  CostModelProto proto = Model().ToProto();
  *proto.add_families() = proto.families(0);
  EXPECT_EQ(ErrorOf("twice.pb", proto.SerializeAsString()),
            fmt::format("twice.pb: families[{}].family: got \"{}\" again, want it once",
                        proto.families_size() - 1, proto.families(0).family()));
  proto = Model().ToProto();
  // Families of hosts may be absent: models that were fitted before these families existed lack
  // them.
  while (proto.families(proto.families_size() - 1).family().starts_with("host_")) {
    proto.mutable_families()->RemoveLast();
  }
  EXPECT_EQ(ErrorOf("no_hosts.pb", proto.SerializeAsString()), "");
  const std::string last = proto.families(proto.families_size() - 1).family();
  proto.mutable_families()->RemoveLast();
  EXPECT_EQ(ErrorOf("less.pb", proto.SerializeAsString()),
            fmt::format("less.pb: families: got none named \"{}\"", last));
}

TEST(LearnedModelTest, AFileWithOtherFeaturesIsRefused) {
  CostModelProto proto = Model().ToProto();
  proto.mutable_families(0)->set_feature_names(0, "abacus");
  const std::string error = ErrorOf("features.pb", proto.SerializeAsString());
  EXPECT_TRUE(error.starts_with("features.pb: families[0].feature_names: got names other than "))
      << error;
}

// GPU types are found by their whole row: a row that is edited without a new fit would turn a
// measured GPU type into an unknown one.
TEST(LearnedModelTest, TheModelInTheBinaryKnowsTheGpusItLearnedFrom) {
  const Op product = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
  const Op attention =
      Op::Attention(DType::kBf16, Direction::kForward, 64, 2048, 2048, 128, /*causal=*/true);
  const Op single = Op::Gemm(DType::kFp32, 2048, 2048, 2048);
  const Op norm = Op::Rowwise(OpKind::kNorm, DType::kFp32, 4096, 4096, Bytes(134'217'728));
  const std::vector<std::pair<const char*, std::vector<Op>>> learned = {
      {"a100-sxm4-80gb", {product}},
      {"h100-sxm5-80gb", {product}},
      {"b200-sxm-180gb", {product}},
      {"l40s-48gb", {product}},
      {"a100-pcie-40gb", {single, norm}}};
  for (const auto& [gpu, ops] : learned) {
    for (const Op& op : ops) {
      EXPECT_EQ(Predict(LearnedModel::Shipped(), op, gpu).basis, Basis::kLearned)
          << gpu << ' ' << Describe(op);
    }
  }
  EXPECT_NE(Predict(LearnedModel::Shipped(), attention, kH100).basis, Basis::kAnalytical);
  // 137 GFLOP take 139 us at 0.99 PFLOP/s, and 190 us at nine tenths of the peak and four fifths of
  // the clock.
  const double seconds = Predict(LearnedModel::Shipped(), product, kH100).time.seconds();
  EXPECT_GT(seconds, 160e-6);
  EXPECT_LT(seconds, 270e-6);
}

}  // namespace
}  // namespace stagecraft
