// Whatever the plan: the critical path and the time of every rank add up to the step.
#include <gtest/gtest.h>

#include "costmodel/random.h"
#include "sim/analysis/bubble.h"
#include "sim/analysis/critical_path.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// Every op is launched by the host, slowly.
class LaunchedModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates = PlainModel().Predict(ops, device);
    for (Estimate& estimate : estimates) estimate.host = 30_us;
    return estimates;
  }
};

struct Explained {
  Duration step;
  std::vector<PathSegment> path;
  PathTime parts;
  Bubble bubble;
};

Explained Explain(const PlanDegrees& degrees, const CostModel& model, bool unfold = false) {
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(2, 8);
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster, {.unfold = unfold});
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  const TaskWaits waits(schedule, timeline, &executor.costs());
  Explained explained{timeline.makespan(), FindCriticalPath(timeline, waits), {}, {}};
  explained.parts = TimeByPart(schedule, explained.path, &executor.costs());
  explained.bubble = FindBubble(schedule, timeline, waits, &executor.costs());
  return explained;
}

PlanDegrees RandomDegrees(Random& random) {
  PlanDegrees degrees = Degrees(1 << random.Integer(0, 2), 1 << random.Integer(0, 2));
  if (random.Integer(0, 1) == 1 && degrees.pipeline > 1) degrees.chunks = 2;
  degrees.overlap_grad_reduce = random.Integer(0, 1) == 1;
  degrees.overlap_param_gather = random.Integer(0, 1) == 1;
  degrees.overlap_p2p = random.Integer(0, 1) == 1;
  degrees.zero = static_cast<int>(random.Integer(0, 3));
  degrees.global_batch = 128;
  degrees.recompute = static_cast<Recompute>(random.Integer(0, 2));
  return degrees;
}

Duration IdleOf(const Explained& explained, IdleCause cause) {
  Duration sum;
  for (const RankTime& rank : explained.bubble.ranks) sum += rank.idle_by(cause);
  return sum;
}

Duration PartOf(const Explained& explained, PathPart part) {
  return explained.parts[static_cast<int>(part)];
}

TEST(ExplainedStepTest, PathAndRanksAddUpToTheStep) {
  const PlainModel plain;
  const LaunchedModel launched;
  Random random(11);
  for (int round = 0; round < 32; ++round) {
    const CostModel& model = round % 2 == 0 ? static_cast<const CostModel&>(plain) : launched;
    const Explained explained = Explain(RandomDegrees(random), model);
    Duration end, parts;
    for (const PathSegment& segment : explained.path) {
      ASSERT_EQ(segment.from, end) << "round " << round;
      ASSERT_GT(segment.to, segment.from) << "round " << round;
      end = segment.to;
    }
    EXPECT_EQ(end, explained.step) << "round " << round;
    for (const Duration part : explained.parts) {
      EXPECT_GE(part, Duration()) << "round " << round;
      parts += part;
    }
    EXPECT_EQ(parts, explained.step) << "round " << round;
    for (const RankTime& rank : explained.bubble.ranks) {
      EXPECT_EQ(rank.Busy() + rank.Idle(), explained.step) << "round " << round;
      EXPECT_GE(rank.compute, Duration()) << "round " << round;
    }
  }
}

// If the host is slow, device and critical path wait for launches; otherwise they never do.
TEST(ExplainedStepTest, OnlyASlowHostKeepsDevicesWaiting) {
  const PlanDegrees degrees = Degrees(2, 4);
  const Explained plain = Explain(degrees, PlainModel());
  EXPECT_EQ(IdleOf(plain, IdleCause::kHost), Duration());
  EXPECT_EQ(PartOf(plain, PathPart::kLaunch), Duration());
  const Explained launched = Explain(degrees, LaunchedModel());
  EXPECT_GT(IdleOf(launched, IdleCause::kHost), Duration());
  EXPECT_GT(PartOf(launched, PathPart::kLaunch), Duration());
}

// Reductions after the last backward are waited for in the update, those of tensor parallelism
// inside passes.
TEST(ExplainedStepTest, ReplicasWaitForTheUpdate) {
  PlanDegrees degrees = Degrees(2, 2);
  degrees.overlap_grad_reduce = false;
  const Explained explained = Explain(degrees, PlainModel());
  EXPECT_GT(IdleOf(explained, IdleCause::kUpdate), Duration());
  EXPECT_GT(PartOf(explained, PathPart::kGradReduce), Duration());
  EXPECT_GT(PartOf(explained, PathPart::kTensor), Duration());
  for (const RankTime& rank : explained.bubble.ranks) EXPECT_GT(rank.tensor, Duration());
}

// The times of a rank are the same whether it stands for others or not.
TEST(ExplainedStepTest, FoldingChangesNothing) {
  const PlanDegrees degrees = Degrees(2, 4);
  const Explained folded = Explain(degrees, PlainModel());
  const Explained unfolded = Explain(degrees, PlainModel(), /*unfold=*/true);
  ASSERT_EQ(folded.bubble.ranks.size(), 4u);
  ASSERT_EQ(unfolded.bubble.ranks.size(), 16u);
  EXPECT_EQ(folded.parts, unfolded.parts);
  EXPECT_EQ(folded.bubble.ranks[0].idle, unfolded.bubble.ranks[0].idle);
  ASSERT_EQ(folded.bubble.waits.size(), unfolded.bubble.waits.size());
  for (size_t i = 0; i < folded.bubble.waits.size(); ++i) {
    EXPECT_EQ(folded.bubble.waits[i].time, unfolded.bubble.waits[i].time);
  }
}

}  // namespace
}  // namespace stagecraft
