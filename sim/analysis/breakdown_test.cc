#include "sim/analysis/breakdown.h"

#include <gtest/gtest.h>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/testing/lowering_testing.h"

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

// compute |forward 2 ms|send 3 ms: priced at 1 ms, stretched by what is sent beside|optimizer 1 ms|
TEST(BreakdownTest, WhatContentionAddsToAMessageIsPartOfThePipeline) {
  Schedule::Builder builder;
  const Lane compute = builder.AddLane({builder.AddRank({.device = 0}), LaneKind::kCompute});
  BoundCosts costs;
  costs.device_of_rank = {0};
  costs.estimates.emplace_back();
  costs.op_sequences.emplace_back();
  const auto add = [&](const Op& op, Phase phase, Duration time) {
    const OpId id = builder.AddOp(op);
    Tag tag;
    tag.phase = phase;
    builder.Add({&compute, 1}, {}, builder.AddOpSequence({&id, 1}), tag);
    Estimate estimate;
    estimate.time = time;
    costs.estimates[0].push_back(estimate);
    costs.op_sequences[0].push_back({time, {}, {}});
  };
  Fabric pair;
  pair.ranks = pair.nodes = 2;
  add(Op::Elementwise(Bytes(1)), Phase::kForward, 2_ms);
  add(Op::Collective(OpKind::kSendRecv, Bytes(1), pair), Phase::kSendForward, 1_ms);
  add(Op::Optimizer(Bytes(1), 1), Phase::kOptimizer, 1_ms);
  const Schedule schedule = builder.Build();
  const Timeline timeline({0_ms, 2_ms, 5_ms}, {2_ms, 5_ms, 6_ms});
  const StepProfile profile = ProfileStep(schedule, timeline, costs);
  EXPECT_EQ(profile.breakdown.compute, 2_ms);
  EXPECT_EQ(profile.breakdown.pipeline, 3_ms);
  EXPECT_EQ(profile.breakdown.optimizer, 1_ms);
  EXPECT_EQ(profile.host_wait, 0_ms);
}

// The prices have no spread of their own; a framework adds its choice of kernels, and recorded
// graphs of kernels with pauses do not.
TEST(BreakdownTest, AFrameworkWidensTheSpread) {
  const Workload workload = MakeWorkload();
  const PlainModel model;
  const auto spread = [&](bool is_busy) {
    Device device = MakeDevice("fast", 100e12);
    device.is_busy = is_busy;
    const Cluster cluster("test", {{MakeNode(device, 1), 1}});
    const Plan plan = MakePlan(Degrees(1, 1), workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    SimExecutor executor(cluster, model);
    const Timeline timeline = executor.Execute(schedule);
    return ProfileStep(schedule, timeline, executor.costs()).spread;
  };
  EXPECT_EQ(spread(false), 0);
  EXPECT_GT(spread(true), 0.03);
  EXPECT_LT(spread(true), 0.25);
}

}  // namespace
}  // namespace stagecraft
