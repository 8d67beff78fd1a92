#include "sim/breakdown.h"

#include <gtest/gtest.h>

#include "costmodel/random.h"
#include "sim/lowering_testing.h"

namespace stagecraft {
namespace {

// The parts of a step add up to it, whatever the plan.
TEST(BreakdownTest, PartsAddUpToTheStep) {
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(2, 8);
  const PlainModel model;
  Random random(7);
  for (int round = 0; round < 24; ++round) {
    PlanDegrees degrees = Degrees(1 << random.Integer(0, 2), 1 << random.Integer(0, 2));
    if (random.Integer(0, 1) == 1 && degrees.pipeline > 1) degrees.chunks = 2;
    degrees.overlap_grad_reduce = random.Integer(0, 1) == 1;
    degrees.overlap_param_gather = random.Integer(0, 1) == 1;
    degrees.global_batch = 128;
    degrees.recompute = static_cast<Recompute>(random.Integer(0, 2));
    const Plan plan = MakePlan(degrees, workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    SimExecutor executor(cluster, model);
    const Timeline timeline = executor.Execute(schedule);
    const StepProfile profile = ProfileStep(schedule, timeline, executor.costs());
    EXPECT_EQ(profile.breakdown.Total(), timeline.makespan()) << "round " << round;
  }
}

}  // namespace
}  // namespace stagecraft
