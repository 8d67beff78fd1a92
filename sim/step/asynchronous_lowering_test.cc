#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/plan/asynchronous_plan.h"
#include "sim/testing/asynchronous_testing.h"
#include "sim/testing/asynchrony_testing.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

void ExpectAsTheFormulaSays(const SimulatedPlan& run) {
  for (int stage = 0; stage < static_cast<int>(run.plan.stages.size()); ++stage) {
    const StageAsynchrony formula = AsynchronyOf(run.plan, run.workload, stage);
    const AsynchronyObserver observed(run, stage);
    EXPECT_EQ(observed.InFlight(), formula.InFlight()) << "stage " << stage;
    EXPECT_EQ(observed.Versions(), formula.versions) << "stage " << stage;
    EXPECT_EQ(observed.Staleness(), formula.staleness) << "stage " << stage;
  }
}

// F0 F1 B0 U F2 B1 U F3 ...: a mini-batch takes 30 us, as in the slower stage.
TEST(AsynchronousLoweringTest, TheSlowestStageNeverRests) {
  const SimulatedPlan run =
      SimulateChain({{1, 5_us, 15_us}, {1, 10_us, 20_us}}, PipelineSchedule::kPipeDream);
  EXPECT_EQ(run.state.StepTime(), 30_us);
  EXPECT_EQ(run.state.step.breakdown.compute, 30_us);
  EXPECT_EQ(run.state.step.critical_rank, 1);
  EXPECT_DOUBLE_EQ(run.state.step.bubble_fraction, 1.0 / 6);  // (1 - 20/30 + 0) / 2
  EXPECT_EQ(run.state.drift, 0);
  ExpectAsTheFormulaSays(run);
}

// Without replicas nothing hides an update, so it delays the next forward.
TEST(AsynchronousLoweringTest, UpdatesFollowTheirBackwards) {
  ProfileModel model;
  model.update = 3_us;
  const SimulatedPlan run =
      SimulateChain({{1, 5_us, 15_us}, {1, 10_us, 20_us}}, PipelineSchedule::kPipeDream, model);
  EXPECT_EQ(run.state.StepTime(), 33_us);
  EXPECT_EQ(run.state.step.breakdown.optimizer, 3_us);
}

// Each stage has three replicas. In the slower one they take 30 us for a mini-batch each, then 5 us
// until their gradients are summed up and 1 us to update.
TEST(AsynchronousLoweringTest, ReplicasAgreeBeforeTheNextForward) {
  ProfileModel model;
  model.reduction = 5_us;
  model.update = 1_us;
  const SimulatedPlan run =
      SimulateChain({{3, 5_us, 10_us}, {3, 10_us, 20_us}}, PipelineSchedule::kPipeDream, model);
  EXPECT_EQ(run.plan.micro_batches(), 3);
  EXPECT_EQ(run.state.StepTime(), 36_us);
  EXPECT_EQ(run.state.step.breakdown.data, 5_us);
}

TEST(AsynchronousLoweringTest, VerticalSyncKeepsMoreVersions) {
  Plan plan = PlanOf({1, 1, 1, 1}, {1, 1, 1, 1}, PipelineSchedule::kPipeDream);
  const TestStage stage = {1, 10_us, 20_us};
  const Workload chain = ChainOf({stage, stage, stage, stage});
  ExpectAsTheFormulaSays(Simulate(plan, chain, {}));
  plan.schedule_options.weight_sync = WeightSync::kVertical;
  const SimulatedPlan run = Simulate(plan, chain, {});
  ExpectAsTheFormulaSays(run);
  EXPECT_EQ(AsynchronyObserver(run, 3).Versions(), 4);
  EXPECT_EQ(run.state.StepTime(), 30_us);
}

// The two plans of the paper: 15 replicas of the convolutional layers and one of the other layers,
// and one stage per device.
TEST(AsynchronousLoweringTest, Vgg16AndGnmtOfPipeDream) {
  if (!HasSharedData()) GTEST_SKIP() << "STAGECRAFT_SHARED is not set";
  const std::string folder = "planning/pipedream/graphs/";
  const auto read = [&](const std::string& name) {
    return ToWorkload(ReadProfiledGraph(SharedDataPath(folder + name + "/graph.txt")), name);
  };
  const Workload vgg = read("vgg16");
  const int rest = 8;  // layers of the classifier
  const SimulatedPlan replicated = Simulate(
      PlanOf({15, 1}, {vgg.layer_count() - rest, rest}, PipelineSchedule::kPipeDream), vgg, {});
  ExpectAsTheFormulaSays(replicated);
  EXPECT_EQ(AsynchronyOf(replicated.plan, vgg, 0).InFlight(), 2);
  EXPECT_EQ(replicated.state.drift, 0);
  const Workload gnmt = read("gnmt_large");
  std::vector<int> layers(16, gnmt.layer_count() / 16);
  layers[15] += gnmt.layer_count() % 16;
  const SimulatedPlan straight =
      Simulate(PlanOf(std::vector<int>(16, 1), layers, PipelineSchedule::kPipeDream), gnmt, {});
  ExpectAsTheFormulaSays(straight);
  EXPECT_EQ(straight.state.drift, 0);
}

// Batch t uses version t - 1 in every stage.
TEST(AsynchronousLoweringTest, DoubleBuffersAreOneUpdateLate) {
  const SimulatedPlan run = SimulateChain({{1, 10_us, 20_us}, {1, 10_us, 20_us}, {1, 5_us, 5_us}},
                                          PipelineSchedule::kPipeDream2bw, {}, 4);
  EXPECT_EQ(run.state.StepTime(), 120_us);
  ExpectAsTheFormulaSays(run);
}

// The passes of a whole batch hide the reduction of the batch before.
TEST(AsynchronousLoweringTest, DoubleBuffersHideReductions) {
  ProfileModel model;
  model.reduction = 100_us;
  const std::vector<TestStage> stages = {{2, 10_us, 20_us}, {2, 10_us, 20_us}};
  const SimulatedPlan hidden = SimulateChain(stages, PipelineSchedule::kPipeDream2bw, model, 10);
  EXPECT_EQ(hidden.state.StepTime(), 150_us);
  EXPECT_EQ(AsynchronyOf(hidden.plan, hidden.workload, 0).gradients, 2);
  for (int stage = 0; stage < 2; ++stage) {
    EXPECT_EQ(AsynchronyObserver(hidden, stage).Staleness(), 1);
    // The last stage runs no pass while it changes from one version to the other.
    EXPECT_EQ(AsynchronyObserver(hidden, stage).Versions(), 2 - stage);
  }
  Plan plan = hidden.plan;
  plan.overlap_grad_reduce = false;
  const SimulatedPlan exposed = Simulate(plan, ChainOf(stages), model);
  EXPECT_GE(exposed.state.StepTime(), 250_us);
  EXPECT_EQ(AsynchronyOf(plan, exposed.workload, 0).gradients, 1);
}

// Multiples of 60 ns, so that sums of them can be divided by up to six replicas.
Duration RandomTime(Random& random) { return Duration::Nanoseconds(60 * random.Integer(1, 100)); }

Duration SlowestStagesPace(const std::vector<TestStage>& stages, const Plan& plan) {
  std::vector<int> replicas;
  std::vector<PassTimes> times;
  for (const TestStage& stage : stages) {
    replicas.push_back(stage.replicas);
    times.push_back({stage.forward, stage.backward, Duration()});
  }
  return plan.micro_batches() * SteadyPeriod(times, replicas);
}

std::vector<TestStage> RandomStages(int count, Random& random) {
  std::vector<TestStage> stages(count);
  for (TestStage& stage : stages) {
    stage.forward = RandomTime(random);
    stage.backward = RandomTime(random);
  }
  return stages;
}

// Stages wait only for the slowest one if all have equally many replicas, or if the rounds of the
// second of two stages fill those of the first.
TEST(AsynchronousLoweringTest, PipelinesRunAtTheirSlowestStagesPace) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random = Random(5).Child("straight", seed);
    const bool is_even = seed % 2 == 0;
    const int count = is_even ? static_cast<int>(random.Integer(2, 6)) : 2;
    std::vector<TestStage> stages = RandomStages(count, random);
    const auto width = static_cast<int>(random.Integer(1, 3));
    for (TestStage& stage : stages) stage.replicas = width;
    if (!is_even) stages[0].replicas *= static_cast<int>(random.Integer(1, 2));
    const SimulatedPlan run = SimulateChain(stages, PipelineSchedule::kPipeDream);
    EXPECT_EQ(run.state.StepTime(), SlowestStagesPace(stages, run.plan)) << "seed " << seed;
    EXPECT_EQ(run.state.drift, 0) << "seed " << seed;
    ExpectAsTheFormulaSays(run);
  }
}

// There is no deadlock, and the counts are the same. Rounds of different lengths wait for each
// other, so the pace of the slowest stage is only a bound, and the period may be longer than a
// round.
TEST(AsynchronousLoweringTest, AnyReplicasKeepWhatTheFormulasSay) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random = Random(7).Child("replicas", seed);
    std::vector<TestStage> stages = RandomStages(static_cast<int>(random.Integer(2, 5)), random);
    for (TestStage& stage : stages) stage.replicas = static_cast<int>(random.Integer(1, 6));
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SimulatedPlan run = SimulateChain(stages, PipelineSchedule::kPipeDream);
    ExpectAsTheFormulaSays(run);
    EXPECT_GE(run.state.StepTime(), SlowestStagesPace(stages, run.plan));
    EXPECT_NEAR(run.state.drift, 0, 0.01);
    Plan vertical = run.plan;
    vertical.schedule_options.weight_sync = WeightSync::kVertical;
    ExpectAsTheFormulaSays(Simulate(vertical, ChainOf(stages), {}));
  }
}

}  // namespace
}  // namespace stagecraft
