// Tests laws that hold for every plan on seeded random plans: what a split must conserve, and that
// folding changes no time. A failure prints the plan.
#include "tests/laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/random.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

using laws::Describe;
using laws::OnOneDevice;
using laws::RepresentedDevices;
using laws::TotalFlops;

Workload MakeWorkload(AttentionBackend attention) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 14,
                                                      .hidden = 1024,
                                                      .heads = 16,
                                                      .kv_heads = 8,
                                                      .ffn = 4096,
                                                      .vocab = 32768,
                                                      .max_sequence = 2048});
  return BuildDecoder(config, attention, "small llama");
}

// Draws a plan for 32 devices.
PlanDegrees Draw(Random random) {
  PlanDegrees d;
  d.tensor = 1 << random.Integer(0, 3);
  d.pipeline = 1 << random.Integer(0, 2);
  if (d.tensor * d.pipeline <= 16) d.context = 1 << random.Integer(0, 1);
  d.chunks = d.pipeline > 1 && random.Integer(0, 2) == 0 ? 2 : 1;
  d.zero = static_cast<int>(random.Integer(0, 3));
  d.context_exchange = static_cast<ContextExchange>(random.Integer(0, 2));
  d.micro_batch = 1 << random.Integer(0, 1);
  d.global_batch = 256;
  d.sequence = 2048;
  d.recompute = static_cast<Recompute>(random.Integer(0, 2));
  d.sequence_parallel = static_cast<int>(random.Integer(0, 1));
  d.overlap_grad_reduce = random.Integer(0, 1) == 1;
  d.overlap_param_gather = random.Integer(0, 1) == 1;
  d.overlap_p2p = random.Integer(0, 1) == 1;
  d.overlap_tensor = d.sequence_parallel == 1 && d.tensor > 1 && random.Integer(0, 1) == 1;
  const int data = 32 / (d.tensor * d.pipeline);  // replicas x context ranks
  if (data > 2 && random.Integer(0, 2) == 0) d.zero_group = data / 2;
  return d;
}

TEST(LawsTest, EverySplitDoesTheSameArithmetic) {
  for (const AttentionBackend attention : {AttentionBackend::kFlash, AttentionBackend::kUnfused}) {
    const Workload workload = MakeWorkload(attention);
    const Cluster many = ParseCluster("h100-sxm:4x8");
    const Cluster one = ParseCluster("h100-sxm:1x1");
    for (int round = 0; round < 60; ++round) {
      const PlanDegrees degrees = Draw(Random(11).Child("flops", round));
      const PlanDegrees alone = OnOneDevice(degrees);
      const double split = TotalFlops(Lower(MakePlan(degrees, workload, many), workload, many));
      const double whole = TotalFlops(Lower(MakePlan(alone, workload, one), workload, one));
      EXPECT_NEAR(split / whole, 1.0, 1e-12) << Describe(degrees);
    }
  }
}

// For what stage s sends forward for a micro-batch, stage s + 1 sends as large a gradient back.
TEST(LawsTest, AsMuchGoesForwardAsComesBack) {
  const Workload workload = MakeWorkload(AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  for (int round = 0; round < 60; ++round) {
    const PlanDegrees degrees = Draw(Random(12).Child("bytes", round));
    const Schedule schedule = Lower(MakePlan(degrees, workload, cluster), workload, cluster);
    int64_t forward = 0;
    int64_t backward = 0;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const Phase phase = schedule.tag(task).phase;
      if (phase != Phase::kSendForward && phase != Phase::kSendBackward) continue;
      const int64_t bytes = schedule.op(schedule.ops(schedule.op_sequence(task))[0]).bytes.count();
      (phase == Phase::kSendForward ? forward : backward) += bytes;
    }
    EXPECT_EQ(forward, backward) << Describe(degrees);
    EXPECT_EQ(forward > 0, degrees.pipeline > 1) << Describe(degrees);
  }
}

// Every micro-batch goes forward and backward through every chunk of every stage, once in each part
// of a divided pass.
TEST(LawsTest, EveryMicroBatchPassesEverywhereOnce) {
  const Workload workload = MakeWorkload(AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  for (int round = 0; round < 60; ++round) {
    const PlanDegrees degrees = Draw(Random(13).Child("passes", round));
    const Plan plan = MakePlan(degrees, workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    std::map<std::vector<int>, int> seen;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const Tag& tag = schedule.tag(task);
      if (tag.phase != Phase::kForward && tag.phase != Phase::kBackward) continue;
      if (tag.segment == 0) {
        ++seen[{tag.stage, tag.chunk, tag.micro_batch, static_cast<int>(tag.phase), tag.rank}];
      }
    }
    const int64_t per_replica =
        plan.micro_batches() / static_cast<int64_t>(plan.stages[0].replicas.size());
    EXPECT_EQ(static_cast<int64_t>(seen.size()),
              2 * per_replica * degrees.pipeline * degrees.chunks)
        << Describe(degrees);
    for (const auto& [pass, count] : seen) EXPECT_EQ(count, 1) << Describe(degrees);
  }
}

TEST(LawsTest, FoldedAndUnfoldedAgreeToTheNanosecond) {
  const Workload workload = MakeWorkload(AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  const AnalyticalModel model;
  for (int round = 0; round < 80; ++round) {
    const PlanDegrees degrees = Draw(Random(14).Child("fold", round));
    const Plan plan = MakePlan(degrees, workload, cluster);
    const SimulatedStep folded = SimulateStep(plan, workload, cluster, model);
    const SimulatedStep unfolded = SimulateStep(plan, workload, cluster, model, {.unfold = true});
    EXPECT_EQ(folded.evaluation.step_time, unfolded.evaluation.step_time) << Describe(degrees);
    EXPECT_EQ(unfolded.schedule.ranks().size(), 32u) << Describe(degrees);
    EXPECT_EQ(RepresentedDevices(folded.schedule), 32) << Describe(degrees);
  }
}

// Experts that are spread over more ranks do the same arithmetic, and folding still changes no
// time.
TEST(LawsTest, ExpertParallelismMovesWorkButMakesNone) {
  const Workload workload = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const AnalyticalModel model;
  PlanDegrees degrees;
  degrees.global_batch = 32;
  degrees.sequence = 2048;
  double flops = 0;
  for (const int tensor : {1, 2}) {
    for (const int expert : {1, 2, 4, 8}) {
      for (const int zero : {0, 1, 3}) {
        degrees.tensor = tensor;
        degrees.expert = expert;
        degrees.zero = zero;
        const Plan plan = MakePlan(degrees, workload, cluster);
        const SimulatedStep folded = SimulateStep(plan, workload, cluster, model);
        const SimulatedStep unfolded =
            SimulateStep(plan, workload, cluster, model, {.unfold = true});
        const std::string what = Describe(degrees);
        EXPECT_EQ(folded.evaluation.step_time, unfolded.evaluation.step_time) << what;
        if (flops == 0) flops = TotalFlops(folded.schedule);
        EXPECT_NEAR(TotalFlops(folded.schedule) / flops, 1.0, 1e-12) << what;
        EXPECT_EQ(folded.evaluation.profile.breakdown.expert > Duration(), expert > 1) << what;
      }
    }
  }
}

// The fullest rank decides: if it has twice the mean number of rows, it has twice the expert work.
TEST(LawsTest, UnevenRoutingCostsTime) {
  const Workload workload = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const AnalyticalModel model;
  PlanDegrees degrees;
  degrees.global_batch = 32;
  degrees.sequence = 2048;
  degrees.expert = 8;
  const Duration even = SimulateStep(MakePlan(degrees, workload, cluster), workload, cluster, model)
                            .evaluation.step_time;
  degrees.expert_imbalance = 2;
  const Duration uneven =
      SimulateStep(MakePlan(degrees, workload, cluster), workload, cluster, model)
          .evaluation.step_time;
  EXPECT_GT(uneven, even);
  EXPECT_LT(uneven, 2 * even);
}

// No step is shorter than the busiest lane, and its parts add up to it.
TEST(LawsTest, AStepHoldsItsBusiestLane) {
  const Workload workload = MakeWorkload(AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("a100-sxm4-80gb:4x8");
  const AnalyticalModel model;
  for (int round = 0; round < 60; ++round) {
    const PlanDegrees degrees = Draw(Random(15).Child("busy", round));
    const Plan plan = MakePlan(degrees, workload, cluster);
    const SimulatedStep step = SimulateStep(plan, workload, cluster, model);
    for (int lane = 0; lane < step.schedule.lane_count(); ++lane) {
      Duration busy;
      for (const TaskId task : step.schedule.order(Lane(lane))) {
        busy += step.costs.TaskTimes(step.schedule, task).device;
      }
      EXPECT_LE(busy, step.evaluation.step_time) << Describe(degrees);
    }
    EXPECT_EQ(step.evaluation.profile.breakdown.Total(), step.evaluation.step_time)
        << Describe(degrees);
  }
}

}  // namespace
}  // namespace stagecraft
