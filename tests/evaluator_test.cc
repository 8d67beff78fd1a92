// Tests that an evaluator, which simulates as little as it can, returns in every field what the
// whole simulation of the step returns, whatever plans it evaluated before.
#include "search/evaluator.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/kernel_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "tests/same_evaluation.h"

namespace stagecraft {
namespace {

Workload SmallDecoder(int layers) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = layers;
  config.hidden = 1024;
  config.heads = 16;
  config.kv_heads = 16;
  config.ffn = 2816;
  config.vocab = 32000;
  config.max_sequence = 1024;
  config.tied_embeddings = true;
  return BuildDecoder(config, AttentionBackend::kFlash, "small");
}

PlanDegrees DrawDegrees(Random& random) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  PlanDegrees degrees;
  degrees.sequence = 1024;
  degrees.pipeline = 1 + draw(4);
  degrees.tensor = 1 << draw(2);
  degrees.data = 1 << draw(1);
  degrees.micro_batch = 1 << draw(1);
  degrees.zero = draw(3);
  degrees.recompute = static_cast<Recompute>(draw(2));
  degrees.overlap_grad_reduce = draw(3) > 0;
  degrees.overlap_param_gather = draw(3) == 0;
  degrees.overlap_p2p = draw(3) > 0;
  degrees.overlap_tensor = draw(3) == 0;
  degrees.post_validation = draw(7) == 0;
  if (draw(3) == 0) degrees.rank_order = "tp-cp-ep-pp-dp";
  degrees.bucket_bytes = draw(1) * (int64_t{16} << 20);
  degrees.offload.optimizer = draw(7) == 0;
  if (degrees.offload.optimizer) degrees.offload.host_memory = Bytes(int64_t{1} << 40);
  if (degrees.pipeline > 1 && draw(2) == 0) {
    degrees.schedule = PipelineSchedule::kInterleaved;
    degrees.chunks = 2 + draw(1);
    if (draw(2) == 0) degrees.schedule_options.groups = {degrees.pipeline + draw(2), draw(1) == 0};
  } else if (draw(7) == 0) {
    degrees.schedule = PipelineSchedule::kGpipe;
  } else if (draw(5) == 0) {
    degrees.schedule_options.warmup = WarmupPolicy::kB;
  }
  const int64_t each = degrees.pipeline + draw(79);  // micro-batches per replica
  if (draw(3) == 0) degrees.context = 2;
  if (degrees.zero > 0 && degrees.data * degrees.context == 4) degrees.zero_group = 2 * draw(1);
  degrees.forward_only = draw(15) == 0;
  degrees.devices = degrees.pipeline * degrees.tensor * degrees.context * degrees.data;
  degrees.global_batch = each * degrees.data * degrees.micro_batch;
  return degrees;
}

// Moves blocks between stages, and changes what some stages recompute.
void Perturb(Random& random, Plan& plan) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (draw(3) == 0) plan.stages[stage].recompute = static_cast<Recompute>(draw(2));
    if (stage + 1 == plan.stages.size() || plan.chunk_count() > 1) continue;
    LayerRange& own = plan.stages[stage].chunks[0];
    LayerRange& next = plan.stages[stage + 1].chunks[0];
    const int moved = draw(6) - 3;
    if (own.count + moved < 1 || next.count - moved < 1) continue;
    own.count += moved;
    next = {next.first + moved, next.count - moved};
  }
}

std::optional<Plan> DrawPlan(Random& random, const Workload& workload, const Cluster& cluster) {
  const PlanDegrees degrees = DrawDegrees(random);
  try {
    Plan plan = MakePlan(degrees, workload, cluster);
    if (random.Integer(0, 2) == 0) Perturb(random, plan);
    if (!FindErrors(plan, workload, cluster).empty()) return std::nullopt;
    return plan;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Compares an evaluator with whole simulations on a cluster whose hosts take `host_dispatch` to
// launch a kernel; with the usual time, devices wait for their hosts, since the network is small.
void ExpectWholeSimulations(const std::string& spec, Duration host_dispatch, uint64_t first_seed) {
  KernelConstants constants;
  constants.host_dispatch = host_dispatch;
  const AnalyticalModel analytical(EmbeddedNcclTuning(), constants);
  const MemoModel model(analytical);
  const Workload workload = SmallDecoder(24);
  const Cluster cluster = ParseCluster(spec);
  Evaluator evaluator(workload, cluster, model);
  int evaluated = 0;
  for (uint64_t seed = first_seed; seed < first_seed + 400; ++seed) {
    Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, workload, cluster);
    if (!plan) continue;
    const std::string text = spec + " seed " + std::to_string(seed);
    const Evaluation whole = SimulateStep(*plan, workload, cluster, model).evaluation;
    ExpectEqual(evaluator.Evaluate(*plan), whole, text);
    ++evaluated;
  }
  EXPECT_GT(evaluated, 300);
  EXPECT_GT(evaluator.short_steps(), 100) << "of " << evaluated;
}

TEST(EvaluatorTest, SaysWhatTheWholeSimulationSaysInEveryField) {
  ExpectWholeSimulations("a100-sxm4-80gb:5x8", Duration(), 0);
}

TEST(EvaluatorTest, SaysTheSameOnUnlikeGpus) {
  ExpectWholeSimulations("h100-sxm:1x8+a100-sxm4-80gb:4x8", Duration::Nanoseconds(4000), 1000);
}

TEST(EvaluatorTest, SaysTheSameIfDevicesWaitForTheirHosts) {
  ExpectWholeSimulations("h100-sxm:1x8+a100-sxm4-80gb:4x8", KernelConstants().host_dispatch, 2000);
}

// Forwards run beside backwards, and exchanges between experts beside both.
TEST(EvaluatorTest, SaysTheSameIfPassesHideExchanges) {
  const AnalyticalModel analytical;
  const MemoModel model(analytical);
  DecoderConfig config = DecoderOfFamily("mixtral");
  config.layers = 8;
  config.hidden = 1024;
  config.heads = config.kv_heads = 16;
  config.ffn = 1024;
  config.vocab = 32000;
  config.max_sequence = 1024;
  config.moe = {.experts = 8, .experts_per_token = 2};
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "experts");
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  Evaluator evaluator(workload, cluster, model);
  for (const int chunks : {1, 2}) {
    for (const int expert : {2, 4}) {
      for (const ExpertSends sends : {ExpertSends::kEveryCopy, ExpertSends::kOncePerNode}) {
        PlanDegrees degrees;
        degrees.pipeline = 4;
        degrees.expert = expert;
        degrees.chunks = chunks;
        if (chunks > 1) degrees.schedule = PipelineSchedule::kInterleaved;
        degrees.schedule_options.pairs_passes = true;
        degrees.expert_exchange.sends = sends;
        degrees.global_batch = 4 * 64;
        degrees.sequence = 1024;
        const Plan plan = MakePlan(degrees, workload, cluster);
        ExpectEqual(evaluator.Evaluate(plan),
                    SimulateStep(plan, workload, cluster, model).evaluation,
                    std::to_string(chunks) + " chunks, ep " + std::to_string(expert));
      }
    }
  }
  EXPECT_GT(evaluator.short_steps(), 0);
}

// An evaluator uses for one plan what it remembers of those before.
TEST(EvaluatorTest, SaysTheSameAlongWalksOfPlansThatDifferInFewStages) {
  const AnalyticalModel analytical;
  const MemoModel model(analytical);
  const Workload workload = SmallDecoder(24);
  const Cluster cluster = ParseCluster("a100-sxm4-80gb:2x8");
  Evaluator evaluator(workload, cluster, model);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Random random(seed);
    PlanDegrees degrees;
    degrees.tensor = 2;
    degrees.pipeline = 4;
    degrees.global_batch = 96;
    degrees.sequence = 1024;
    degrees.zero = static_cast<int>(seed) % 3;
    Plan plan = MakePlan(degrees, workload, cluster);
    for (int move = 0; move < 40; ++move) {
      Plan moved = plan;
      Perturb(random, moved);
      if (random.Integer(0, 9) == 0) moved.micro_batch = 3 - moved.micro_batch;
      if (!FindErrors(moved, workload, cluster).empty()) continue;
      plan = moved;
      ExpectEqual(evaluator.Evaluate(plan), SimulateStep(plan, workload, cluster, model).evaluation,
                  "seed " + std::to_string(seed) + " move " + std::to_string(move));
    }
  }
  EXPECT_GT(evaluator.short_steps(), 150);
}

}  // namespace
}  // namespace stagecraft
