#include "tools/validation/step_metric.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// A network of 2 layers with hidden size 4 and 2 heads, and 5 sequences of 3, hence 15 tokens. Its
// forward FLOPs:
//   GEMMs      2 · 2 · 15 · 4 · (8 + 8 + 2 · 16) = 11520
//   attention  2 · 4 · 15 · 3 · 4 = 1440
//   head       2 · 15 · 4 · 10 = 1200
StepWork Work() {
  StepWork work;
  work.config = DecoderOfFamily("gpt");
  work.config.layers = 2;
  work.config.hidden = 4;
  work.config.heads = 2;
  work.config.vocab = 10;
  work.config = Completed(work.config);
  work.sequence = 3;
  work.global_batch = 5;
  work.devices = 2;
  work.peak_flop_per_s = 1e5;
  return work;
}

double Flops(const char* convention) {
  const StepWork work = Work();
  return ConventionFlops(convention, work.config, work.sequence, work.global_batch).value();
}

TEST(StepMetricTest, ConventionsCountWhatTheySay) {
  EXPECT_DOUBLE_EQ(Flops("4x-full-attention"), 4 * (11520 + 1440) + 3 * 1200);
  EXPECT_DOUBLE_EQ(Flops("3x-full-attention"), 3 * (11520 + 1440 + 1200));
  EXPECT_DOUBLE_EQ(Flops("3x-causal-attention"), 3 * (11520 + 720 + 1200));
  // 72 · 5 · 2 · 3 · 16 · (1 + 3 / 12 + 10 / 96)
  EXPECT_DOUBLE_EQ(Flops("korthikanti-hfu"), 34560 * (1 + 0.25 + 10.0 / 96));
}

// The formula of Narayanan et al., SC21, is 96·B·s·l·h²·(1 + s/6h + V/16lh).
TEST(StepMetricTest, FourTimesIsTheFormulaOfTheMegatronPaper) {
  const double formula = 96 * 5.0 * 3 * 2 * 16 * (1 + 3 / 24.0 + 10 / 128.0);
  EXPECT_NEAR(Flops("4x-full-attention"), formula, 1e-6);
}

TEST(StepMetricTest, GatedNetworksHaveThreeMatricesAndFewerKeys) {
  StepWork work = Work();
  work.config.gated_mlp = true;
  work.config.kv_heads = 1;
  // GEMMs 2 · 2 · 15 · 4 · (8 + 4 + 3 · 16) = 14400
  EXPECT_DOUBLE_EQ(ConventionFlops("3x-full-attention", work.config, 3, 5).value(),
                   3 * (14400 + 1440 + 1200));
}

TEST(StepMetricTest, MetricsFollowFromTheStepTime) {
  const StepWork work = Work();
  const auto value = [&](const char* kind) {
    return FindStepMetric(kind, "3x-full-attention", work)->FromSeconds(0.5);
  };
  EXPECT_DOUBLE_EQ(value("step_time"), 0.5);
  EXPECT_DOUBLE_EQ(value("samples_per_s"), 10);
  EXPECT_DOUBLE_EQ(value("samples_per_s_per_gpu"), 5);
  EXPECT_DOUBLE_EQ(value("tokens_per_s"), 30);
  EXPECT_DOUBLE_EQ(value("tokens_per_s_per_gpu"), 15);
  EXPECT_DOUBLE_EQ(value("tflops_per_gpu_model"), 42480e-12);
  EXPECT_DOUBLE_EQ(value("mfu"), 0.4248);
  const StepMetric rate = *FindStepMetric("tokens_per_s", "", work);
  EXPECT_DOUBLE_EQ(rate.ToSeconds(rate.FromSeconds(0.25)), 0.25);
}

TEST(StepMetricTest, UnknownConventionsAreReasons) {
  EXPECT_THROW(FindStepMetric("mfu", "", Work()), InputError);
  EXPECT_THROW(FindStepMetric("tflops_per_gpu_hw", "5x", Work()), InputError);
  EXPECT_FALSE(FindStepMetric("layer_time", "", Work()).has_value());
}

}  // namespace
}  // namespace stagecraft
