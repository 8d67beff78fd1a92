// Tests that an evaluator says what the whole simulation says, in every field, of random plans of
// every pipeline schedule that flushes: with any sharding, on any devices, with stages of unequal
// numbers of replicas, and of networks with experts.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/evaluator.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/testing/random_plans.h"
#include "sim/workload/networks/decoder.h"
#include "tests/same_evaluation.h"

namespace stagecraft {
namespace {

Workload Network(bool has_experts, int64_t hidden) {
  DecoderConfig config = DecoderOfFamily(has_experts ? "mixtral" : "llama");
  config.layers = 16;
  config.hidden = hidden;
  config.heads = config.kv_heads = 16;
  config.ffn = has_experts ? hidden : 11 * hidden / 4;
  config.vocab = 32000;
  config.max_sequence = 512;
  config.tied_embeddings = !has_experts;
  if (has_experts) config.moe = {.experts = 8, .experts_per_token = 2};
  return BuildDecoder(config, AttentionBackend::kFlash, has_experts ? "experts" : "small");
}

// Compares one evaluator, which sees all plans, with the simulation of each plan by itself.
// Returns how many plans do not fit.
int ExpectWholeSimulations(const std::string& spec, const Workload& workload, uint64_t first_seed) {
  const AnalyticalModel analytical;
  const MemoModel model(analytical);
  const Cluster cluster = ParseCluster(spec);
  Evaluator evaluator(workload, cluster, model);
  std::set<PipelineSchedule> schedules;
  int evaluated = 0, misfits = 0;
  for (uint64_t seed = first_seed; seed < first_seed + 4000; ++seed) {
    Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, workload, cluster);
    if (!plan) continue;
    const SimulatedStep step = SimulateStep(*plan, workload, cluster, model);
    const std::string text = spec + " seed " + std::to_string(seed);
    ExpectEqual(evaluator.Evaluate(step.plan), step.evaluation, text);
    const Evaluation ranked = evaluator.EvaluateIfTensorsFit(step.plan);
    EXPECT_EQ(ranked.fits, step.evaluation.fits) << text;
    if (ranked.fits) ExpectEqual(ranked, step.evaluation, text);
    schedules.insert(plan->schedule);
    ++evaluated;
    misfits += ranked.fits ? 0 : 1;
  }
  EXPECT_GT(evaluated, 1000) << spec;
  const std::vector<PipelineSchedule> drawn = DrawnSchedules();
  EXPECT_EQ(schedules, std::set(drawn.begin(), drawn.end())) << spec;
  return misfits;
}

TEST(EvaluatedFamiliesTest, PlansOnLikeGpus) {
  ExpectWholeSimulations("a100-sxm4-80gb:3x8", Network(false, 1024), 0);
}

TEST(EvaluatedFamiliesTest, PlansOnUnlikeGpus) {
  ExpectWholeSimulations("h100-sxm:1x8+a100-sxm4-80gb:2x8", Network(false, 1024), 10'000);
}

TEST(EvaluatedFamiliesTest, PlansOfExpertsOnLikeGpus) {
  ExpectWholeSimulations("h100-sxm:3x8", Network(true, 1024), 20'000);
}

TEST(EvaluatedFamiliesTest, PlansOfExpertsOnUnlikeGpus) {
  ExpectWholeSimulations("h100-sxm:1x8+a100-sxm4-80gb:2x8", Network(true, 1024), 30'000);
}

TEST(EvaluatedFamiliesTest, PlansOfWhichManyDoNotFit) {
  const int misfits = ExpectWholeSimulations("v100-sxm2-16gb:3x8", Network(false, 4096), 40'000);
  EXPECT_GT(misfits, 300);
}

}  // namespace
}  // namespace stagecraft
