#include "sim/step/plan_pass_orders.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/engine/bound_costs.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"

namespace stagecraft {
namespace {

constexpr PipelineSchedule kOrders[] = {
    PipelineSchedule::kGpipe,          PipelineSchedule::kOneForwardOneBackward,
    PipelineSchedule::kInterleaved,    PipelineSchedule::kBreadthFirst,
    PipelineSchedule::kZeroBubbleH1,   PipelineSchedule::kZeroBubbleH2,
    PipelineSchedule::kZeroBubbleAuto, PipelineSchedule::kZeroBubbleV,
    PipelineSchedule::kVHalf,          PipelineSchedule::kVMin,
    PipelineSchedule::kDualPipe,       PipelineSchedule::kDualPipeV,
    PipelineSchedule::kChimera,        PipelineSchedule::kList};

class PlanOrdersTest : public ::testing::Test {
 protected:
  Plan Make(PipelineSchedule pipeline_schedule,
            const std::function<void(PlanDegrees&)>& change = {}) const {
    PlanDegrees degrees = Degrees(2, 4);
    degrees.schedule = pipeline_schedule;
    if (pipeline_schedule == PipelineSchedule::kInterleaved ||
        pipeline_schedule == PipelineSchedule::kBreadthFirst) {
      degrees.chunks = 2;
    }
    if (change) change(degrees);
    return WithPassOrders(MakePlan(degrees, workload_, cluster_), workload_, cluster_, model_);
  }

  // The FLOPs of all passes on all devices.
  double PassFlops(const Plan& plan) const {
    const Schedule schedule = Lower(plan, workload_, cluster_, {.unfold = true});
    double flops = 0;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (!IsPass(schedule.tag(task).phase)) continue;
      for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
        flops += schedule.op(op).Flops().count() * static_cast<double>(schedule.lanes(task).size());
      }
    }
    return flops;
  }

  PlainModel model_;
  const Workload workload_ = MakeWorkload(14);
  const Cluster cluster_ = MakeCluster(2, 8);
};

TEST_F(PlanOrdersTest, EveryOrderDoesTheSameWork) {
  const double flops = PassFlops(Make(PipelineSchedule::kOneForwardOneBackward));
  for (const PipelineSchedule pipeline_schedule : kOrders) {
    EXPECT_NEAR(PassFlops(Make(pipeline_schedule)) / flops, 1, 1e-12) << Name(pipeline_schedule);
  }
}

TEST_F(PlanOrdersTest, FoldedAndUnfoldedTakeTheSameTime) {
  for (const PipelineSchedule pipeline_schedule : kOrders) {
    for (const bool overlap : {false, true}) {
      const Plan plan =
          Make(pipeline_schedule, [&](PlanDegrees& d) { d.overlap_grad_reduce = overlap; });
      EXPECT_EQ(Simulate(plan, workload_, cluster_, false).makespan(),
                Simulate(plan, workload_, cluster_, true).makespan())
          << Name(pipeline_schedule) << " overlap " << overlap;
    }
  }
}

// The two parts of a backward together cost as much as the whole one.
TEST_F(PlanOrdersTest, HalvesOfABackwardAddUpToIt) {
  const Plan plan = Make(PipelineSchedule::kZeroBubbleH1);
  const PassOrderInputs inputs = MeasurePasses(plan, workload_, cluster_, model_);
  const ShardSpec spec = StageShard(plan, workload_, cluster_, 1, 0);
  Duration whole;
  for (const LayerRange range = plan.stages[1].chunks[0];
       const Step& step : ShardLayer(workload_.layer(range.first), spec).backward) {
    if (!IsCollective(step.op.kind)) {
      whole += range.count * model_.Predict({&step.op, 1}, cluster_.device(0))[0].time;
    }
  }
  const PassTimes& times = inputs.costs.times[1][0];
  EXPECT_GT(times.backward_weight, Duration());
  EXPECT_GT(times.backward_input, times.backward_weight);  // which includes the collectives
  EXPECT_GE(times.Backward(), whole);
  EXPECT_GE(inputs.memory[1][0].after_forward, inputs.memory[1][0].after_input);
}

// Schedules are made for the costs that passes have in the plan itself: experts that are divided
// over several replicas exchange rows in the plan's own groups.
TEST(PlanOrdersOfExpertsTest, PassesCostWhatTheyCostInThePlan) {
  const Workload workload = MakeMixtureOfExperts(14);
  const Cluster cluster = MakeCluster(4, 4);
  const PlainModel model;
  int compared = 0;
  for (const PipelineSchedule pipeline_schedule :
       {PipelineSchedule::kZeroBubbleAuto, PipelineSchedule::kZeroBubbleV,
        PipelineSchedule::kList}) {
    for (const auto& [expert, context, pipeline] : std::vector<std::array<int, 3>>{{1, 1, 2},
                                                                                   {2, 1, 2},
                                                                                   {4, 1, 2},
                                                                                   {8, 1, 2},
                                                                                   {2, 2, 2},
                                                                                   {4, 2, 2},
                                                                                   {8, 2, 1},
                                                                                   {4, 1, 4}}) {
      PlanDegrees degrees = Degrees(1, pipeline);
      degrees.schedule = pipeline_schedule;
      degrees.expert = expert;
      degrees.context = context;
      degrees.zero = 0;
      const Plan plan = MakePlan(degrees, workload, cluster);
      const PassOrderInputs inputs = MeasurePasses(plan, workload, cluster, model);
      const Plan ordered = WithPassOrders(plan, workload, cluster, model);
      ASSERT_TRUE(FindErrors(ordered, workload, cluster).empty());
      const Schedule schedule = Lower(ordered, workload, cluster, {.with_optimizer = false});
      const BoundCosts costs = BindCosts(schedule, cluster, model);
      for (TaskId task = 0; task < schedule.task_count(); ++task) {
        const Tag& tag = schedule.tag(task);
        if (!IsPass(tag.phase) || schedule.ranks()[tag.rank].replica != 0) continue;
        const PassTimes& times = inputs.costs.times[tag.stage][tag.chunk];
        const Duration expected = tag.phase == Phase::kForward          ? times.forward
                                  : tag.phase == Phase::kBackwardInput  ? times.backward_input
                                  : tag.phase == Phase::kBackwardWeight ? times.backward_weight
                                                                        : times.Backward();
        ASSERT_EQ(costs.TaskTimes(schedule, task).device, expected)
            << Name(pipeline_schedule) << " ep " << expert << " cp " << context << " pp "
            << pipeline;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500);
}

// If a plan has no backwards its pass orders have none either, so that it can be written to a file,
// read and simulated again.
TEST_F(PlanOrdersTest, OrdersOfForwardOnlyPlansAreValid) {
  for (const PipelineSchedule pipeline_schedule : kOrders) {
    const Plan plan = Make(pipeline_schedule, [](PlanDegrees& d) { d.forward_only = true; });
    EXPECT_EQ(FindErrors(plan, workload_, cluster_), std::vector<std::string>())
        << Name(pipeline_schedule);
    EXPECT_GT(Simulate(plan, workload_, cluster_, false).makespan(), Duration())
        << Name(pipeline_schedule);
  }
}

// Stages s and 3 - s hold the same parameters, whose gradients are reduced once, among all replicas
// of both.
TEST_F(PlanOrdersTest, TwoDirectionsReduceOverBothHolders) {
  for (const PipelineSchedule pipeline_schedule :
       {PipelineSchedule::kChimera, PipelineSchedule::kDualPipe}) {
    for (const bool overlap : {false, true}) {
      const Plan plan = Make(pipeline_schedule, [&](PlanDegrees& d) {
        d.overlap_grad_reduce = overlap;
        d.zero = 0;
      });
      const Schedule schedule = Lower(plan, workload_, cluster_);
      std::map<int, Bytes> reduced;  // by stage
      for (TaskId task = 0; task < schedule.task_count(); ++task) {
        const Tag& tag = schedule.tag(task);
        if (tag.phase != Phase::kGradReduce) continue;
        const Op& op = schedule.op(schedule.ops(schedule.op_sequence(task))[0]);
        EXPECT_EQ(op.fabric.ranks, 4);  // two stages of two replicas
        reduced[tag.stage] += op.bytes;
      }
      ASSERT_EQ(reduced.size(), 2u) << Name(pipeline_schedule);
      for (const auto& [stage, bytes] : reduced) {
        int64_t parameters = 0;
        for (const ParameterCount& chunk : ChunkParameters(plan, workload_, stage)) {
          parameters += chunk.Total();
        }
        EXPECT_EQ(bytes, Bytes(parameters * plan.gradient_bytes));
      }
    }
  }
}

TEST_F(PlanOrdersTest, WhatTwoDirectionsCannotDoIsNamed) {
  const auto problem = [&](const std::function<void(PlanDegrees&)>& change) {
    try {
      Make(PipelineSchedule::kChimera, change);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(problem([](PlanDegrees& d) { d.zero = 3; }), "zero: 3 with chimera, want 0 or 1");
  EXPECT_EQ(problem([](PlanDegrees& d) { d.overlap_param_gather = true; }),
            "overlap_param_gather: not with chimera, which gathers after the step");
  EXPECT_EQ(problem([](PlanDegrees& d) { d.chunks = 8; }),
            "order: chimera with 4 stages and 8 chunks of each, want an even number of chunks that "
            "divides the stages");
}

// Zero-bubble schedules with sharded parameters gather for both passes that need parameters, and
// reduce after the weight gradients.
TEST_F(PlanOrdersTest, SplitBackwardsWorkWithEveryKindOfSharding) {
  for (int zero = 0; zero <= 3; ++zero) {
    const Plan plan = Make(PipelineSchedule::kZeroBubbleH1, [&](PlanDegrees& d) { d.zero = zero; });
    EXPECT_EQ(Simulate(plan, workload_, cluster_, false).makespan(),
              Simulate(plan, workload_, cluster_, true).makespan())
        << zero;
  }
}

// One micro-batch takes years, and all of them take centuries.
TEST_F(PlanOrdersTest, OrdersOfStepsOfMoreThanAHundredYearsAreRefused) {
  class SlowModel : public PlainModel {
   public:
    std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
      std::vector<Estimate> estimates = PlainModel::Predict(ops, device);
      for (Estimate& estimate : estimates)
        estimate.time = Duration::Nanoseconds(kLongestTime.ns() / 2000);
      return estimates;
    }
  };
  for (const PipelineSchedule pipeline_schedule : kOrders) {
    if (!NeedsCosts(pipeline_schedule)) continue;
    PlanDegrees degrees = Degrees(2, 4);
    degrees.schedule = pipeline_schedule;
    degrees.global_batch = 512;
    const Plan plan = MakePlan(degrees, workload_, cluster_);
    EXPECT_EQ(ErrorOf([&] { WithPassOrders(plan, workload_, cluster_, SlowModel()); }),
              cluster_.name() +
                  ": the step would take more than 100 years, want faster devices and links or "
                  "less work")
        << Name(pipeline_schedule);
  }
}

// With the same memory they wait less (Qi et al., ICLR 2024).
TEST_F(PlanOrdersTest, ZeroBubbleOrdersAreNeverSlowerThanOneForwardOneBackward) {
  const Duration base =
      Simulate(Make(PipelineSchedule::kOneForwardOneBackward), workload_, cluster_, false)
          .makespan();
  for (const PipelineSchedule pipeline_schedule :
       {PipelineSchedule::kZeroBubbleH1, PipelineSchedule::kZeroBubbleAuto}) {
    EXPECT_LE(Simulate(Make(pipeline_schedule), workload_, cluster_, false).makespan(), base)
        << Name(pipeline_schedule);
  }
}

}  // namespace
}  // namespace stagecraft
