// Tests that a step of which only a part is simulated is reported as the whole one: its tasks,
// their fingerprint, what it hides and what it sends.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/kernel_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "sim/analysis/hidden_communication.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/repeated_tasks.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "tools/report/communicator_uses.h"

namespace stagecraft {
namespace {

Workload SmallDecoder() {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = 16;
  config.hidden = 1024;
  config.heads = 16;
  config.kv_heads = 16;
  config.ffn = 2816;
  config.vocab = 32000;
  config.max_sequence = 1024;
  config.tied_embeddings = true;
  return BuildDecoder(config, AttentionBackend::kFlash, "small");
}

std::optional<Plan> DrawPlan(Random& random, const Workload& workload, const Cluster& cluster) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  PlanDegrees degrees;
  degrees.sequence = 1024;
  degrees.pipeline = 1 + draw(4);
  degrees.tensor = 1 << draw(2);
  degrees.data = 1 << draw(1);
  degrees.micro_batch = 1 << draw(1);
  degrees.zero = draw(4) == 0 ? draw(3) : draw(1);
  degrees.recompute = static_cast<Recompute>(draw(2));
  degrees.overlap_grad_reduce = draw(2) > 0;
  degrees.overlap_param_gather = draw(3) == 0;
  degrees.overlap_p2p = draw(1) > 0;
  degrees.overlap_tensor = draw(3) == 0;
  degrees.post_validation = draw(7) == 0;
  if (draw(3) == 0) degrees.rank_order = "tp-cp-ep-pp-dp";
  if (draw(3) == 0) degrees.context = 2;
  if (degrees.pipeline > 1 && draw(2) == 0) {
    degrees.schedule = PipelineSchedule::kInterleaved;
    degrees.chunks = 2 + draw(1);
  }
  const int64_t each = degrees.pipeline * (20 + draw(60)) + draw(5);
  degrees.devices = degrees.pipeline * degrees.tensor * degrees.context * degrees.data;
  degrees.global_batch = each * degrees.data * degrees.micro_batch;
  try {
    Plan plan = MakePlan(degrees, workload, cluster);
    if (FindErrors(plan, workload, cluster).empty()) return plan;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

void ExpectSameUses(const std::vector<CommunicatorUse>& got,
                    const std::vector<CommunicatorUse>& want, const std::string& text) {
  ASSERT_EQ(got.size(), want.size()) << text;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].phase, want[i].phase) << text;
    EXPECT_EQ(got[i].stage, want[i].stage) << text;
    EXPECT_EQ(got[i].kind, want[i].kind) << text;
    EXPECT_EQ(got[i].fabric, want[i].fabric) << text;
    EXPECT_EQ(got[i].method, want[i].method) << text;
    EXPECT_EQ(got[i].groups, want[i].groups) << text;
    EXPECT_EQ(got[i].tasks, want[i].tasks) << text;
    EXPECT_EQ(got[i].bytes, want[i].bytes) << text;
    EXPECT_EQ(got[i].first_group, want[i].first_group) << text;
  }
}

void ExpectSame(const SimulatedStep& got, const SimulatedStep& want, const std::string& text) {
  EXPECT_EQ(got.evaluation.step_time, want.evaluation.step_time) << text;
  EXPECT_EQ(got.evaluation.unshared_time, want.evaluation.unshared_time) << text;
  EXPECT_EQ(got.evaluation.profile, want.evaluation.profile) << text;
  EXPECT_EQ(got.evaluation.memory, want.evaluation.memory) << text;
  EXPECT_EQ(got.evaluation.hardware_flops, want.evaluation.hardware_flops) << text;
  EXPECT_EQ(got.plan.global_batch, want.plan.global_batch) << text;
  const RepeatedTasks tasks(got.schedule, got.repetition);
  EXPECT_EQ(tasks.total(), want.schedule.task_count()) << text;
  EXPECT_EQ(tasks.Fingerprint(got.timeline), want.timeline.Fingerprint()) << text;
  EXPECT_EQ(got.schedule.ranks().size(), want.schedule.ranks().size()) << text;
  for (int32_t rank = 0; rank < static_cast<int32_t>(want.schedule.ranks().size()); ++rank) {
    EXPECT_EQ(HiddenCommunication(got.schedule, got.timeline, got.costs, rank, got.repetition),
              HiddenCommunication(want.schedule, want.timeline, want.costs, rank))
        << text << " rank " << rank;
  }
  ExpectSameUses(FindCommunicators(got), FindCommunicators(want), text);
  ExpectSameUses(FindInnerCommunication(got), FindInnerCommunication(want), text);
}

// On a cluster whose hosts take `host_dispatch` to launch a kernel.
void ExpectWholeSteps(const std::string& spec, Duration host_dispatch, uint64_t first_seed) {
  KernelConstants constants;
  constants.host_dispatch = host_dispatch;
  const AnalyticalModel analytical(EmbeddedNcclTuning(), constants);
  const MemoModel model(analytical);
  const Workload workload = SmallDecoder();
  const Cluster cluster = ParseCluster(spec);
  int repeated = 0, whole = 0;
  for (uint64_t seed = first_seed; seed < first_seed + 200; ++seed) {
    Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, workload, cluster);
    if (!plan) continue;
    const SimulatedStep step = SimulateStep(*plan, workload, cluster, model, {.repeats = true});
    ++(step.repetition.parts.empty() ? whole : repeated);
    ExpectSame(step, SimulateStep(*plan, workload, cluster, model),
               spec + " seed " + std::to_string(seed));
  }
  EXPECT_GT(repeated, 60) << "of " << whole + repeated;
}

TEST(RepeatedStepTest, IsReportedAsTheWholeOne) {
  ExpectWholeSteps("a100-sxm4-80gb:5x8", Duration(), 0);
}

TEST(RepeatedStepTest, HostsMayHoldDevicesBack) {
  ExpectWholeSteps("h100-sxm:5x8", KernelConstants().host_dispatch, 1000);
}

TEST(RepeatedStepTest, MessagesMayShareInterfaces) {
  ExpectWholeSteps("a100-sxm4-80gb:20x2", Duration(), 2000);
}

// A step that shows each task is simulated whole, and so is one that repeats nothing.
TEST(RepeatedStepTest, NothingIsRepeatedUnlessAskedFor) {
  const AnalyticalModel model(EmbeddedNcclTuning());
  const Workload workload = SmallDecoder();
  const Cluster cluster = ParseCluster("a100-sxm4-80gb:1x8");
  PlanDegrees degrees;
  degrees.sequence = 1024;
  degrees.pipeline = 4;
  degrees.data = 2;
  degrees.micro_batch = 1;
  degrees.global_batch = 1000;
  const Plan plan = MakePlan(degrees, workload, cluster);
  EXPECT_TRUE(SimulateStep(plan, workload, cluster, model).repetition.parts.empty());
  const SimulatedStep step = SimulateStep(plan, workload, cluster, model, {.repeats = true});
  EXPECT_FALSE(step.repetition.parts.empty());
  EXPECT_LT(step.schedule.task_count(), 1000);
  EXPECT_TRUE(SimulateStep(plan, workload, cluster, model, {.unfold = true, .repeats = true})
                  .repetition.parts.empty());
}

}  // namespace
}  // namespace stagecraft
