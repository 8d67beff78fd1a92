// Steps with frozen layers, under every pipeline schedule.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/step/work_counter.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

Workload Llama() {
  return BuildDecoder(
      SizedDecoder("llama",
                   {.layers = 14, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512}),
      AttentionBackend::kFlash, "llama");
}

// Frozen layers are half of the network, the first stage of two, or lie behind trained ones.
TEST(FrozenStepTest, EveryScheduleRunsAndTakesNoLonger) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload all = Llama();
  std::vector<int> half(8), odd;
  for (int layer = 0; layer < 8; ++layer) half[layer] = layer;
  for (int layer = 1; layer < 16; layer += 2) odd.push_back(layer);
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    if (IsAsynchronous(schedule)) continue;
    SCOPED_TRACE(Name(schedule));
    PlanDegrees degrees = Degrees(1, 4);
    degrees.schedule = schedule;
    degrees.chunks = LeastChunks(schedule);
    degrees.zero = 0;
    const auto makespan = [&](const Workload& net) {
      const Plan plan = WithPassOrders(MakePlan(degrees, net, cluster), net, cluster, PlainModel());
      return Simulate(plan, net, cluster, false).makespan();
    };
    const Duration usual = makespan(all);
    EXPECT_LT(makespan(Frozen(all, half)), usual);
    EXPECT_LT(makespan(Frozen(all, odd)), usual);
  }
}

TEST(FrozenStepTest, AsynchronousSchedulesAreRefused) {
  const Cluster cluster = MakeCluster(1, 2);
  const Workload net = Frozen(Llama(), {0});
  PlanDegrees degrees = Degrees(1, 2);
  degrees.schedule = PipelineSchedule::kPipeDream2bw;
  EXPECT_EQ(ErrorOf([&] { MakePlan(degrees, net, cluster); }),
            "order: pipedream-2bw updates the weights of every stage, but llama has frozen layers; "
            "want a schedule that flushes the pipeline");
}

// A chain of four equal layers takes 3 forwards each; with the first two frozen 1 + 1 + 2 + 3.
TEST(FrozenStepTest, ModelFlopsAreThoseOfTheGradientsThatAreNeeded) {
  const Cluster cluster = MakeCluster(1, 1);
  const auto count = [&](const std::vector<int>& frozen, bool forward_only) {
    const Workload chain = Frozen(LinearChain(4, 256), frozen);
    PlanDegrees degrees = Degrees(1, 1);
    degrees.forward_only = forward_only;
    Evaluation evaluation;
    WorkCounter(chain, cluster).Count(MakePlan(degrees, chain, cluster), evaluation);
    const double tokens = 32.0 * 512;
    return evaluation.model_flops.count() / (tokens * 2 * 256 * 256);
  };
  EXPECT_DOUBLE_EQ(count({}, false), 12);
  EXPECT_DOUBLE_EQ(count({0, 1}, false), 1 + 1 + 2 + 3);
  EXPECT_DOUBLE_EQ(count({}, true), 4);
  EXPECT_DOUBLE_EQ(count({0, 1}, true), 4);
}

}  // namespace
}  // namespace stagecraft
