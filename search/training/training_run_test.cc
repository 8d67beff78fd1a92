#include "search/training/training_run.h"

#include <gtest/gtest.h>

#include "costmodel/random.h"
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

TEST(TrainingRunTest, ARunIsItsStepsAndItsChanges) {
  const SmallPipeline small;
  BalancePolicy policy;
  policy.balancer = Balancer::kPartition;
  policy.by = LoadBasis::kTrueTime;
  const TrainingJob job = small.Job({Frozen(small.workload, 300, 13)}, policy);
  const SimulatedTraining run(job, TrainStates(job), {});
  const History history = SimulateRun(run.spec(), Random(1));
  const std::vector<TrainedState>& states = run.states();
  EXPECT_EQ(history.totals.time, 300 * states[0].evaluation.step_time + states[1].cost.Total() +
                                     700 * states[1].evaluation.step_time);
  EXPECT_EQ(history.totals.Lost(PhaseKind::kRebalancing), states[1].cost.Total());
}

// When one of two replicas fails, the other one takes all micro-batches.
TEST(TrainingRunTest, AShrunkRunGoesOnWithTheReplicasThatAreLeft) {
  const SmallPipeline small(2);
  const std::optional<Plan> half = ShrunkPlan(small.plan, {5});
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->stages[0].replicas.size(), 1u);
  EXPECT_EQ(half->device_count(), 4);
  EXPECT_FALSE(ShrunkPlan(small.plan, {0, 5}).has_value());
  const TrainingJob job = small.Job({});
  RunConditions conditions;
  conditions.recovery.policy = Recovery::Policy::kShrink;
  conditions.events = {At(0, 5, ClusterEvent::What::kFail)};
  const SimulatedTraining run(job, TrainStates(job), conditions);
  const History history = SimulateRun(run.spec(), Random(1));
  const Duration step =
      SimulateStep(*half, small.workload, small.cluster, small.model).evaluation.step_time;
  EXPECT_EQ(history.phases.back().step_time, step);
  EXPECT_EQ(history.phases.back().working_devices, 4);
}

// A device at half of its speed is the pace of its stage, until layers move away from it.
TEST(TrainingRunTest, AReplannedRunMovesLayersAwayFromASlowDevice) {
  const SmallPipeline small;
  const TrainingJob job = small.Job({});
  RunConditions conditions;
  conditions.events = {At(1e-3, 1, ClusterEvent::What::kSlow, 0.5)};
  const SimulatedTraining waiting(job, TrainStates(job), conditions);
  conditions.recovery.policy = Recovery::Policy::kReplan;
  const SimulatedTraining moving(job, TrainStates(job), conditions);
  const Duration slow = SimulateRun(waiting.spec(), Random(1)).phases.back().step_time;
  const History moved = SimulateRun(moving.spec(), Random(1));
  EXPECT_LT(moved.phases.back().step_time.seconds(), 0.8 * slow.seconds());
  EXPECT_GT(moved.totals.Lost(PhaseKind::kRebalancing), Duration());
}

// A parameter has 2 bytes of 16-bit weights and 12 of optimizer states.
TEST(TrainingRunTest, ACheckpointHoldsWeightsAndOptimizer) {
  const SmallPipeline small;
  EXPECT_EQ(CheckpointBytes(small.plan, small.workload), Bytes(14 * small.workload.Parameters()));
}

}  // namespace
}  // namespace stagecraft
