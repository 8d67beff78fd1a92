#include "costmodel/learned/experiment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/learned_testing.h"

namespace stagecraft {
namespace {

constexpr char kA100[] = "a100-sxm4-80gb";
constexpr char kV100[] = "v100-sxm2-16gb";

// Returns a sample of a stream that takes `factor` times its roofline.
Sample Stream(int64_t bytes, double factor, const std::string& gpu, const std::string& name) {
  Sample sample;
  sample.op = Op::Elementwise(Bytes(bytes));
  sample.gpu = gpu;
  sample.name = name;
  sample.source = "test";
  const double roofline = RooflineTime(sample.op, CatalogueGpu(gpu)).seconds();
  sample.time = Duration::Seconds(factor * roofline);
  return sample;
}

ExperimentOptions Options(const std::string& split, std::vector<ModelKind> models) {
  ExperimentOptions options;
  options.split = split;
  options.models = std::move(models);
  return options;
}

// Returns streams that take as long as their family says on an A100, and e^0.2 times as long on a
// V100.
std::vector<Sample> Streams(int per_gpu) {
  std::vector<Sample> samples;
  Random random(1);
  for (const char* gpu : {kA100, kV100}) {
    for (int i = 0; i < per_gpu; ++i) {
      const Op op = Op::Elementwise(Bytes(SizeBetween(random, 1e6, 1e9)));
      samples.push_back(SampleOf(StreamFamily(), op, gpu, gpu == kV100 ? 0.2 : 0));
    }
  }
  return samples;
}

// If a row takes 1.25 times the roofline, the roofline is 20 % too low. Its spread of 0.5 covers a
// ratio of e^(0.5 x 1.2816) = 1.9, so one row of five lies outside.
TEST(ExperimentTest, ErrorsAndCoverageAreCounted) {
  std::vector<Sample> samples;
  for (const double factor : {1.25, 1.25, 1.25, 1.25, 4.0}) {
    samples.push_back(Stream(1'000'000'000, factor, kA100, "gelu"));
  }
  const Experiment experiment = RunExperiment(samples, Options("none", {ModelKind::kRoofline}));
  ASSERT_EQ(experiment.groups.size(), 1u);
  const Accuracy& group = experiment.groups[0];
  EXPECT_EQ(group.op, "gelu");
  EXPECT_EQ(group.gpu, kA100);
  EXPECT_EQ(group.rows, 5);
  EXPECT_NEAR(group.mape, (4 * 0.2 + 0.75) / 5, 1e-4);
  EXPECT_NEAR(group.median_ape, 0.2, 1e-4);
  EXPECT_NEAR(group.bias, -(4 * std::log(1.25) + std::log(4.0)) / 5, 1e-4);
  EXPECT_DOUBLE_EQ(group.interval80_coverage, 0.8);
}

// The error is 20 % for three rows and 50 % for one.
TEST(ExperimentTest, OverallIsTheMeanOfGroups) {
  const std::vector<Sample> samples = {
      Stream(1'000'000'000, 1.25, kA100, "gelu"), Stream(900'000'000, 1.25, kA100, "gelu"),
      Stream(800'000'000, 1.25, kA100, "gelu"), Stream(1'000'000'000, 2, kV100, "tanh")};
  const Experiment experiment = RunExperiment(samples, Options("none", {ModelKind::kRoofline}));
  ASSERT_EQ(experiment.groups.size(), 2u);
  ASSERT_EQ(experiment.overall.size(), 1u);
  EXPECT_EQ(experiment.overall[0].rows, 4);
  EXPECT_NEAR(experiment.overall[0].mape, 0.35, 1e-4);
  EXPECT_NEAR(experiment.overall_rows[0].mape, (3 * 0.2 + 0.5) / 4, 1e-4);
  EXPECT_DOUBLE_EQ(experiment.overall[0].interval80_coverage, 0.5);
  EXPECT_DOUBLE_EQ(experiment.overall_rows[0].interval80_coverage, 0.75);
}

TEST(ExperimentTest, UnknownGpusAreSkippedAndCounted) {
  std::vector<Sample> samples = {Stream(1'000'000'000, 2, kA100, "gelu")};
  samples.push_back(samples[0]);
  samples[1].gpu = "abacus";
  const Experiment experiment = RunExperiment(samples, Options("none", {ModelKind::kRoofline}));
  ASSERT_EQ(experiment.skipped.size(), 1u);
  const auto& [what, rows] = *experiment.skipped.begin();
  EXPECT_EQ(what.first, "abacus");
  EXPECT_TRUE(what.second.starts_with("is neither in the device catalogue")) << what.second;
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(experiment.overall[0].rows, 1);
}

// A table may have fp8 rows of a GPU type that has no such rate.
TEST(ExperimentTest, RowsInAFormatThatTheGpuLacksAreSkippedAndCounted) {
  std::vector<Sample> samples = {Stream(1'000'000'000, 2, kA100, "gelu")};
  samples.push_back(samples[0]);
  samples[1].op = Op::Gemm(DType::kFp8, 64, 64, 64);
  const Experiment experiment = RunExperiment(samples, Options("none", {ModelKind::kRoofline}));
  EXPECT_EQ(experiment.overall[0].rows, 1);
  EXPECT_EQ(experiment.skipped,
            (SkippedRows{{{kA100, "has no rate for fp8 in the device catalogue"}, 1}}));
}

TEST(ExperimentTest, EveryModelPredictsWhatItHasNotSeen) {
  ExperimentOptions options =
      Options("random:0.25", {ModelKind::kRoofline, ModelKind::kInterpolation, ModelKind::kRidge,
                              ModelKind::kBoostedTrees, ModelKind::kShipped});
  std::vector<std::string> reports;
  options.report = [&](const std::string& line) { reports.push_back(line); };
  const std::vector<Sample> samples = Streams(150);
  const Experiment experiment = RunExperiment(samples, options);
  EXPECT_EQ(reports.size(), 1u);
  ASSERT_EQ(experiment.overall.size(), 5u);
  for (int kind = 0; kind < kModelKindCount; ++kind) {
    const Accuracy& overall = experiment.overall[static_cast<size_t>(kind)];
    EXPECT_EQ(overall.model, static_cast<ModelKind>(kind));
    EXPECT_EQ(overall.rows, experiment.overall[0].rows);
    if (overall.model == ModelKind::kRoofline) continue;
    const bool is_ours = overall.model == ModelKind::kShipped;
    EXPECT_LT(overall.mape, is_ours ? 0.05 : 0.25) << Name(overall.model);
  }
  const Experiment again = RunExperiment(samples, options);
  for (const auto& [kind, predictions] : experiment.predictions) {
    for (size_t i = 0; i < predictions.size(); ++i) {
      EXPECT_EQ(predictions[i].seconds, again.predictions.at(kind)[i].seconds);
    }
  }
}

// The GPU type that is left out has 10 rows: each of 20 draws calibrates on 4 of them and predicts
// the other 6.
TEST(ExperimentTest, CalibrationDrawsTwentyTimes) {
  const std::vector<Sample> samples = Streams(10);
  ExperimentOptions options = Options("leave-out:gpu=v100-sxm2-16gb", {ModelKind::kShipped});
  const double uncalibrated = RunExperiment(samples, options).overall[0].mape;
  options.calibrate = 4;
  const Experiment experiment = RunExperiment(samples, options);
  EXPECT_EQ(experiment.overall[0].rows, 10);
  EXPECT_EQ(experiment.predictions.at(ModelKind::kShipped).size(), 20u * 6u);
  EXPECT_LT(experiment.overall[0].mape, uncalibrated / 2);
  std::map<int, int> times;  // how often a sample was predicted
  for (const SamplePrediction& p : experiment.predictions.at(ModelKind::kShipped))
    ++times[p.sample];
  EXPECT_EQ(times.size(), 10u);
  for (const auto& [sample, count] : times) EXPECT_GE(sample, 10) << "an A100's, " << count;
}

TEST(ExperimentTest, WithoutTrainingTheGivenModelIsAsked) {
  const std::vector<Sample> samples = Streams(50);
  const LearnedModel model = LearnedModel::Fit(samples);
  ExperimentOptions options = Options("none", {ModelKind::kShipped});
  options.shipped = &model;
  EXPECT_LT(RunExperiment(samples, options).overall[0].mape, 0.05);
}

TEST(ExperimentTest, ASplitThatLeavesNothingIsRefused) {
  EXPECT_THROW(RunExperiment(Streams(2), Options("leave-out:gpu=b", {ModelKind::kRoofline})),
               InputError);
}

}  // namespace
}  // namespace stagecraft
