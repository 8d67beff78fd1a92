#include "search/training/job_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/random.h"
#include "search/training/plan_division.h"
#include "search/training/shrunk_plan.h"
#include "search/training/training_testing.h"
#include "sim/job/history.h"

namespace stagecraft {
namespace {

ClusterEvent At(double seconds, int device, ClusterEvent::What what, double rate = 1) {
  ClusterEvent event;
  event.target = {EventTarget::Kind::kDevice, device};
  event.what = what;
  event.rate = rate;
  event.at = Duration::Seconds(seconds);
  return event;
}

TEST(JobSimulationTest, ARunIsItsStepsAndItsChanges) {
  const SmallPipeline small;
  BalancePolicy policy;
  policy.balancer = Balancer::kPartition;
  policy.by = LoadBasis::kTrueTime;
  const Job job = small.JobWith({Frozen(small.workload, 300, 13)}, policy);
  const JobSimulation run(job, TrainStates(job));
  const History history = SimulateRun(run.spec(), Random(1));
  const std::vector<TrainedState>& states = run.states();
  EXPECT_EQ(history.totals.time, 300 * states[0].evaluation.step_time + states[1].cost.Total() +
                                     700 * states[1].evaluation.step_time);
  EXPECT_EQ(history.totals.Lost(PhaseKind::kRebalancing), states[1].cost.Total());
}

// When one of two replicas fails, the other one takes all micro-batches.
TEST(JobSimulationTest, AShrunkRunGoesOnWithTheReplicasThatAreLeft) {
  const SmallPipeline small(2);
  const std::optional<Plan> half = ShrunkPlan(small.plan, {5});
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->stages[0].replicas.size(), 1u);
  EXPECT_EQ(half->device_count(), 4);
  EXPECT_FALSE(ShrunkPlan(small.plan, {0, 5}).has_value());
  Job job = small.JobWith({});
  job.conditions.recovery.policy = Recovery::Policy::kShrink;
  job.conditions.events = {At(1e-3, 5, ClusterEvent::What::kFail)};
  const JobSimulation run(job, TrainStates(job));
  const History history = SimulateRun(run.spec(), Random(1));
  const Duration step =
      SimulateStep(*half, small.workload, small.cluster, small.model).evaluation.step_time;
  EXPECT_EQ(history.phases.back().step_time, step);
  EXPECT_EQ(history.phases.back().working_devices, 4);
  ASSERT_NE(history.phases.back().plan, nullptr);
  EXPECT_EQ(history.phases.front().plan->words, "tp 1 x pp 4 x dp 2, 1f1b");
  EXPECT_EQ(history.phases.back().plan->words, "tp 1 x pp 4 x dp 1, 1f1b");
}

// A device at half of its speed is the pace of its stage, until layers move away from it.
TEST(JobSimulationTest, AReplannedRunMovesLayersAwayFromASlowDevice) {
  const SmallPipeline small;
  Job job = small.JobWith({});
  job.conditions.events = {At(1e-3, 1, ClusterEvent::What::kSlow, 0.5)};
  const JobSimulation waiting(job, TrainStates(job));
  Job replanned = job;
  replanned.conditions.recovery.policy = Recovery::Policy::kReplan;
  const JobSimulation moving(replanned, TrainStates(replanned));
  const Duration slow = SimulateRun(waiting.spec(), Random(1)).phases.back().step_time;
  const History moved = SimulateRun(moving.spec(), Random(1));
  EXPECT_LT(moved.phases.back().step_time.seconds(), 0.8 * slow.seconds());
  ASSERT_NE(moved.phases.back().plan, nullptr);
  const std::vector<int>& layers = moved.phases.back().plan->layers;
  EXPECT_LT(layers[1], moved.phases.front().plan->layers[1]);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 26);
  EXPECT_GT(moved.totals.Lost(PhaseKind::kRebalancing), Duration());
}

TEST(JobSimulationTest, ARunKeepsWhatCameBeforeAStateThatCannotBeTrained) {
  const SmallPipeline small;
  const Job job = small.JobWith({Frozen(small.workload, 300, 13), Frozen(small.workload, 700, 26)});
  const JobSimulation run(job, TrainStates(job));
  History history;
  const std::string error = ErrorOf([&] { SimulateRun(run.spec(), Random(1), &history); });
  EXPECT_NE(error.find("the network from step 700 on: got all 26 layers"), std::string::npos)
      << error;
  EXPECT_EQ(history.stopped, error);
  EXPECT_EQ(history.totals.steps, 700);
  EXPECT_EQ(history.totals.time, 300 * run.states()[0].evaluation.step_time +
                                     400 * run.states()[1].evaluation.step_time);
}

// From step 300 on, blocks take so little that fewer stages do, and a device of the others fails.
TEST(JobSimulationTest, AFreedDeviceFailsWithoutAnInterruption) {
  const SmallPipeline small;
  NetworkChange change = Frozen(small.workload, 300, 0);
  for (int block = 4; block <= 24; ++block) change.states[block].token_share = 0.05;
  BalancePolicy policy;
  policy.balancer = Balancer::kPartition;
  policy.by = LoadBasis::kTrueTime;
  policy.repacks = true;
  policy.repack_loss = 0.2;
  Job job = small.JobWith({change}, policy);
  job.conditions.recovery.policy = Recovery::Policy::kShrink;
  const JobSimulation whole(job, TrainStates(job));
  const Plan& packed = whole.states()[1].plan;
  ASSERT_LT(packed.stages.size(), 4u);
  int freed = 0;
  const std::vector<int> kept = DevicesOf(packed);
  while (std::binary_search(kept.begin(), kept.end(), freed)) ++freed;
  ClusterEvent failure = At(0, freed, ClusterEvent::What::kFail);
  failure.at_step = 400;
  job.conditions.events = {failure};
  const JobSimulation broken(job, TrainStates(job));
  const History history = SimulateRun(broken.spec(), Random(1));
  EXPECT_EQ(history.totals.failures, 0);
  EXPECT_EQ(history.totals.time, SimulateRun(whole.spec(), Random(1)).totals.time);
}

// A parameter has 2 bytes of 16-bit weights and 12 of optimizer states.
TEST(JobSimulationTest, ACheckpointHoldsWeightsAndOptimizer) {
  const SmallPipeline small;
  EXPECT_EQ(CheckpointBytes(small.plan, small.workload), Bytes(14 * small.workload.Parameters()));
}

}  // namespace
}  // namespace stagecraft
