// Tests that `simulate` and `explain` agree, class by class, about what a step's time is spent on.
// `simulate` looks at one lane of the shortest step that stands for the whole one, `explain` at
// what every task of the whole step waited for.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/kernel_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/evaluator.h"
#include "sim/analysis/bubble.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/task_waits.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/layer_division.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/step/mechanism.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_plans.h"

namespace stagecraft {
namespace {

// A model in which hosts launch kernels in no time.
AnalyticalModel WithoutHosts() {
  KernelConstants constants;
  constants.host_dispatch = Duration();
  return AnalyticalModel(EmbeddedNcclTuning(), constants);
}

struct Explained {
  PathTime path;
  RankTime rank;  // of the critical rank
};

Explained Explain(const SimulatedStep& step) {
  const TaskWaits waits(step.schedule, step.timeline, &step.costs);
  Explained explained;
  explained.path = TimeByPart(step.schedule, FindCriticalPath(step.timeline, waits), &step.costs);
  for (const RankTime& rank : FindBubble(step.schedule, step.timeline, waits, &step.costs).ranks) {
    if (rank.rank == step.evaluation.profile.critical_rank) explained.rank = rank;
  }
  return explained;
}

Duration IdleBy(const RankTime& rank, std::initializer_list<IdleCause> causes) {
  Duration sum;
  for (const IdleCause cause : causes) sum += rank.idle_by(cause);
  return sum;
}

// Expects that the times of each class differ by at most `slack`.
void ExpectClasses(const Breakdown& parts, const RankTime& rank, Duration slack,
                   const std::string& text) {
  const auto expect_near = [&](Duration got, Duration want, const char* what) {
    EXPECT_NEAR(got.seconds(), want.seconds(), slack.seconds()) << text << ": " << what;
  };
  expect_near(parts.compute, rank.compute, "compute");
  expect_near(parts.tensor, rank.tensor, "tensor");
  expect_near(parts.context, rank.context, "context");
  expect_near(parts.expert, rank.expert, "expert");
  expect_near(parts.bubble,
              IdleBy(rank, {IdleCause::kWarmUp, IdleCause::kImbalance, IdleCause::kDrain}),
              "bubble");
  expect_near(parts.pipeline + parts.data + parts.optimizer,
              rank.optimizer + IdleBy(rank, {IdleCause::kCommunication, IdleCause::kUpdate}),
              "pipeline, data and optimizer");
}

struct Counts {
  int compared = 0, apart = 0, short_steps = 0;
  std::map<int, int> by_experts;  // by the degree of expert parallelism
};

void ExpectAgreement(const Workload& workload, const std::string& spec, const CostModel& model,
                     uint64_t first_seed, bool has_hosts, Counts& counts) {
  const MemoModel memo(model);
  const Cluster cluster = ParseCluster(spec);
  Evaluator evaluator(workload, cluster, memo);
  for (uint64_t seed = first_seed; seed < first_seed + 500; ++seed) {
    Random random(seed);
    const std::optional<Plan> drawn = DrawPlan(random, workload, cluster);
    if (!drawn) continue;
    const std::string text = spec + " seed " + std::to_string(seed);
    const SimulatedStep step = SimulateStep(*drawn, workload, cluster, memo);
    const Evaluation simulated = evaluator.Evaluate(step.plan);
    ASSERT_TRUE(simulated.fits) << text;
    EXPECT_EQ(simulated.profile, step.evaluation.profile) << text;
    const Breakdown& parts = simulated.profile.breakdown;
    ++counts.compared;
    ++counts.by_experts[step.plan.stages[0].expert_parallel];
    if (StepEndsOf(step.plan) == StepEnds::kApart) {
      EXPECT_LE(parts.Total(), step.timeline.makespan()) << text;
      ++counts.apart;
      continue;
    }
    EXPECT_EQ(parts.Total(), step.timeline.makespan()) << text;
    const RankTime rank = Explain(step).rank;
    const Duration launches = has_hosts ? rank.idle_by(IdleCause::kHost) : Duration();
    const Duration hundredth = Duration::Seconds(0.01 * parts.Total().seconds());
    ExpectClasses(parts, rank, has_hosts ? launches + hundredth : Duration(), text);
  }
  counts.short_steps += static_cast<int>(evaluator.short_steps());
}

TEST(StepPartsTest, SimulateAndExplainAgreeClassByClass) {
  const AnalyticalModel model = WithoutHosts();
  Counts counts;
  uint64_t seed = 0;
  for (const char* const spec :
       {"a100-sxm4-80gb:2x8", "aws-p3.16xlarge:2", "h100-sxm:1x8+a100-sxm4-80gb:1x8"}) {
    ExpectAgreement(MakeWorkload(12), spec, model, seed += 1000, /*has_hosts=*/false, counts);
  }
  EXPECT_GT(counts.compared, 500);
  EXPECT_GT(counts.apart, 10);
  EXPECT_GT(counts.short_steps, 20);
}

TEST(StepPartsTest, TheyAgreeOnMixturesOfExperts) {
  const AnalyticalModel model = WithoutHosts();
  Counts counts;
  uint64_t seed = 6000;
  for (const char* const spec : {"h100-sxm:2x8", "aws-p3.16xlarge:2"}) {
    ExpectAgreement(MakeMixtureOfExperts(12), spec, model, seed += 1000, /*has_hosts=*/false,
                    counts);
  }
  for (const int ranks : {1, 2, 8}) EXPECT_GT(counts.by_experts[ranks], 50) << ranks;
}

// If the host launches a kernel late, `simulate` counts the wait as the kernel's class, but
// `explain` as launches.
TEST(StepPartsTest, TheyAgreeExceptOnLaunchesIfDevicesWaitForTheirHosts) {
  Counts counts;
  ExpectAgreement(MakeWorkload(12), "a100-sxm4-80gb:2x8", AnalyticalModel(), 5000,
                  /*has_hosts=*/true, counts);
  EXPECT_GT(counts.compared, 100);
}

// With one stage on equal GPUs, no rank waits for another's passes, however they synchronise. If
// nothing overlaps, the critical path has the same parts.
void ExpectNoBubble(const Workload& workload, const std::array<std::string, 2>& specs) {
  const AnalyticalModel model = WithoutHosts();
  const bool has_experts = ExpertCount(workload) > 0;
  int compared = 0, with_path = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    // Ranks whose collectives differ slow down differently, and then wait for each other.
    const Cluster cluster = Without(Mechanism::kComputeSlowdown, ParseCluster(specs[seed % 2]));
    PlanDegrees degrees = DrawDegrees(random, has_experts);
    degrees.pipeline = degrees.chunks = 1;
    degrees.schedule = PipelineSchedule::kOneForwardOneBackward;
    degrees.schedule_options = {};
    degrees.devices = degrees.tensor * degrees.context * degrees.data;
    std::optional<Plan> plan;
    try {
      plan = MakePlan(degrees, workload, cluster);
    } catch (const InputError&) {
      continue;
    }
    if (!FindErrors(*plan, workload, cluster).empty()) continue;
    const SimulatedStep step = SimulateStep(*plan, workload, cluster, model);
    const Breakdown& parts = step.evaluation.profile.breakdown;
    EXPECT_EQ(parts.bubble, Duration()) << "seed " << seed;
    EXPECT_EQ(parts.Total(), step.evaluation.step_time) << "seed " << seed;
    ++compared;
    const bool runs_beside = plan->overlap_grad_reduce || plan->overlap_param_gather ||
                             plan->zero > 1 || plan->offload.activations > 0;
    if (runs_beside || plan->post_validation) continue;
    const PathTime path = Explain(step).path;
    const auto of = [&](PathPart part) { return path[static_cast<int>(part)]; };
    EXPECT_EQ(parts.compute, of(PathPart::kForward) + of(PathPart::kBackward)) << "seed " << seed;
    EXPECT_EQ(parts.data,
              of(PathPart::kGradReduce) + of(PathPart::kGradNorm) + of(PathPart::kParamGather))
        << "seed " << seed;
    EXPECT_EQ(parts.tensor, of(PathPart::kTensor)) << "seed " << seed;
    EXPECT_EQ(parts.expert, of(PathPart::kExpert)) << "seed " << seed;
    EXPECT_EQ(parts.optimizer, of(PathPart::kOptimizer)) << "seed " << seed;
    ++with_path;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(with_path, 30);
}

TEST(StepPartsTest, OneStageHasNoBubble) {
  ExpectNoBubble(MakeWorkload(12), {"a100-sxm4-80gb:2x8", "aws-p3.16xlarge:2"});
}

TEST(StepPartsTest, OneStageOfExpertsHasNoBubble) {
  ExpectNoBubble(MakeMixtureOfExperts(12), {"h100-sxm:2x8", "aws-p3.16xlarge:2"});
}

}  // namespace
}  // namespace stagecraft
