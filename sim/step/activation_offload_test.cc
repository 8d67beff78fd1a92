#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/analysis/critical_path.h"
#include "sim/memory/memory_curve.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/host_offload.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// A model in which copies take the time that their op states.
class CopyModel : public PlainModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates = PlainModel::Predict(ops, device);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind == OpKind::kProfiled) estimates[i].time = ops[i].m * ops[i].profiled;
    }
    return estimates;
  }
};

struct Simulated {
  Schedule schedule;
  Timeline timeline;
};

// Runs plans on the eight GPUs of one node.
class ActivationOffloadTest : public ::testing::Test {
 protected:
  static Cluster MakeNodeOf(Bandwidth port) {
    NodeType node = MakeNode(MakeDevice("fast", 100e12), 8);
    node.fallback = {LinkKind::kPcie, 1_us, port};
    return Cluster("test", {{node, 1}});
  }
  static PlanDegrees Shared(double share, int pipeline, int micro_batches) {
    PlanDegrees degrees = Degrees(1, pipeline);
    degrees.devices = pipeline;
    degrees.global_batch = 2 * micro_batches;
    degrees.offload.activations = share;
    if (share > 0) degrees.offload.host_memory = Bytes(int64_t{1} << 40);
    return degrees;
  }
  Plan Make(const PlanDegrees& degrees) const { return MakePlan(degrees, workload_, usual_); }
  Simulated Run(const Plan& plan, const Cluster& cluster, bool unfold = false) const {
    const CopyModel model;
    SimExecutor executor(cluster, model);
    Schedule schedule = Lower(plan, workload_, cluster, {unfold, false});
    Timeline timeline = executor.Execute(schedule);
    return {std::move(schedule), std::move(timeline)};
  }
  std::string ErrorOf(const std::function<void(PlanDegrees&)>& change) const {
    PlanDegrees degrees = Shared(1, 4, 16);
    change(degrees);
    try {
      Make(degrees);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<TaskId> OrderOf(const Schedule& schedule, LaneKind kind, int rank = 0) {
    for (int lane = 0; lane < schedule.lane_count(); ++lane) {
      const LaneInfo& info = schedule.lane_infos()[lane];
      if (info.kind != kind || info.rank != rank) continue;
      const auto order = schedule.order(Lane(lane));
      return {order.begin(), order.end()};
    }
    return {};
  }

  const Workload workload_ = MakeWorkload(14);
  const Cluster usual_ = MakeNodeOf(Bandwidth(25e9));
};

// Passes take f and b, and copies c, which is longer than both. Of GPipe's four micro-batches the
// first two are offloaded:
//
//   F0 F1 [out 0: F2 waits] [out 1: F3 waits] F3 B3 [in 1] [in 0: B0 waits] B0
TEST_F(ActivationOffloadTest, WhatCannotHideMakesTheStepLonger) {
  PlanDegrees degrees = Shared(1, 1, 4);
  degrees.schedule = PipelineSchedule::kGpipe;
  const Cluster slow = MakeNodeOf(Bandwidth(1e9));
  const Simulated step = Run(Make(degrees), slow);
  const std::vector<TaskId> passes = OrderOf(step.schedule, LaneKind::kCompute);
  const std::vector<TaskId> out = OrderOf(step.schedule, LaneKind::kHostOut);
  ASSERT_EQ(passes.size(), 8u);
  ASSERT_EQ(out.size(), 2u);
  const auto length = [&](TaskId task) {
    return step.timeline.end(task) - step.timeline.start(task);
  };
  const Duration f = length(passes[0]), b = length(passes[7]), c = length(out[0]);
  ASSERT_GT(c, f + b);
  EXPECT_EQ(step.timeline.makespan(), 2 * f + 4 * c + 2 * b);
}

TEST_F(ActivationOffloadTest, NoShareChangesNothing) {
  const PlanDegrees without = Shared(0, 4, 16);
  PlanDegrees with_room = without;
  with_room.offload.host_memory = Bytes(int64_t{1} << 40);
  EXPECT_EQ(Run(Make(without), usual_).timeline.Fingerprint(),
            Run(Make(with_room), usual_).timeline.Fingerprint());
  EXPECT_TRUE(OrderOf(Run(Make(with_room), usual_).schedule, LaneKind::kHostOut).empty());
}

// A port of unlimited bandwidth costs nothing; one of 4 GB/s costs at most the time of copies on
// the critical path.
TEST_F(ActivationOffloadTest, AStepIsLongerByCopiesOnItsCriticalPathAtMost) {
  const Plan plan = Make(Shared(1, 4, 16));
  const Duration without = Run(Make(Shared(0, 4, 16)), usual_).timeline.makespan();
  EXPECT_EQ(Run(plan, MakeNodeOf(Bandwidth(1e18))).timeline.makespan(), without);
  const Simulated slow = Run(plan, MakeNodeOf(Bandwidth(4e9)));
  const TaskWaits waits(slow.schedule, slow.timeline, nullptr);
  const PathTime parts = TimeByPart(slow.schedule, FindCriticalPath(slow.timeline, waits), nullptr);
  EXPECT_GT(slow.timeline.makespan(), without);
  EXPECT_LE(slow.timeline.makespan() - without, parts[static_cast<int>(PathPart::kHostCopy)]);
}

TEST_F(ActivationOffloadTest, CopiesKeepToTheirTwoPasses) {
  for (const double port : {2e9, 25e9, 1e12}) {
    const Simulated step = Run(Make(Shared(1, 4, 16)), MakeNodeOf(Bandwidth(port)));
    const std::vector<TaskId> passes = OrderOf(step.schedule, LaneKind::kCompute);
    const auto place = [&](int micro_batch, Phase phase) {
      return std::find_if(passes.begin(), passes.end(),
                          [&](TaskId task) {
                            const Tag& tag = step.schedule.tag(task);
                            return tag.micro_batch == micro_batch && tag.phase == phase;
                          }) -
             passes.begin();
    };
    const Timeline& timeline = step.timeline;
    const std::vector<TaskId> out = OrderOf(step.schedule, LaneKind::kHostOut);
    const std::vector<TaskId> in = OrderOf(step.schedule, LaneKind::kHostIn);
    EXPECT_EQ(out.size(), 16u);
    EXPECT_EQ(in.size(), 16u);
    for (const TaskId copy : out) {
      const auto forward = place(step.schedule.tag(copy).micro_batch, Phase::kForward);
      EXPECT_GE(timeline.start(copy), timeline.end(passes[forward]));
      EXPECT_LE(timeline.end(copy), timeline.start(passes[forward + 2]));
    }
    for (const TaskId copy : in) {
      const auto backward = place(step.schedule.tag(copy).micro_batch, Phase::kBackward);
      EXPECT_GE(timeline.start(copy), timeline.end(passes[backward - 2]));
      EXPECT_LE(timeline.end(copy), timeline.start(passes[backward]));
    }
  }
}

TEST_F(ActivationOffloadTest, EveryDeviceOfATensorGroupCopiesAtTheSameTime) {
  PlanDegrees degrees = Shared(0.5, 4, 16);
  degrees.tensor = 2;
  degrees.devices = 8;
  const Plan plan = Make(degrees);
  EXPECT_EQ(Run(plan, usual_).timeline.makespan(), Run(plan, usual_, true).timeline.makespan());
  EXPECT_EQ(OrderOf(Run(plan, usual_, true).schedule, LaneKind::kHostOut, 1).size(), 16u);
}

TEST_F(ActivationOffloadTest, WithoutWaitsForABackwardNothingIsCopied) {
  const Simulated alone = Run(Make(Shared(1, 1, 16)), usual_);
  EXPECT_TRUE(OrderOf(alone.schedule, LaneKind::kHostOut).empty());
  EXPECT_EQ(alone.timeline.Fingerprint(),
            Run(Make(Shared(0, 1, 16)), usual_).timeline.Fingerprint());
}

// Eight micro-batches in flight become two and, where the warm-up ends, a third that is already
// back.
TEST_F(ActivationOffloadTest, TheFirstStageHoldsThreeMicroBatchesOfEight) {
  const Plan whole = Make(Shared(1, 8, 32));
  const StageMemory with = EstimateMemory(whole, workload_, usual_)[0];
  const StageMemory half = EstimateMemory(Make(Shared(0.5, 8, 32)), workload_, usual_)[0];
  const StageMemory without = EstimateMemory(Make(Shared(0, 8, 32)), workload_, usual_)[0];
  EXPECT_EQ(without.host, Bytes());
  EXPECT_NEAR(with.activations.gib() / without.activations.gib(), 3.0 / 8, 0.01);
  EXPECT_NEAR(half.activations.gib() / without.activations.gib(), 5.5 / 8, 0.01);
  EXPECT_NEAR(with.host.gib() / without.activations.gib(), 1, 0.01);
  EXPECT_NEAR(half.host.gib() / with.host.gib(), 0.5, 1e-6);
  // The last stage runs each backward right after its forward.
  EXPECT_EQ(EstimateMemory(whole, workload_, usual_)[7].host, Bytes());
}

TEST_F(ActivationOffloadTest, MemoryOverTimeStaysBelowTheEstimate) {
  for (const double port : {2e9, 25e9, 1e12}) {
    const Cluster cluster = MakeNodeOf(Bandwidth(port));
    const Plan plan = Make(Shared(1, 8, 32));
    const Simulated step = Run(plan, cluster);
    const auto curves = MemoryOverTime(plan, workload_, cluster, step.schedule, step.timeline);
    const std::vector<StageMemory> stages = EstimateMemory(plan, workload_, cluster);
    for (size_t rank = 0; rank < curves.size(); ++rank) {
      const StageMemory& memory = stages[step.schedule.ranks()[rank].stage];
      Bytes most;
      Duration latest;
      for (const MemoryChange& change : curves[rank]) {
        EXPECT_GE(change.time, latest);
        latest = change.time;
        most = std::max(most, change.used);
      }
      EXPECT_LE(most, memory.Peak() - memory.fragmentation);
      EXPECT_GT(most, memory.Peak() - memory.fragmentation - memory.activations);
      EXPECT_EQ(curves[rank].back().used, curves[rank].front().used);
    }
  }
}

TEST_F(ActivationOffloadTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(ErrorOf([](PlanDegrees&) {}), "");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.offload.activations = 1.5; }),
            "offload_activations: got 1.5, want 0 to 1");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.offload.activations = -0.5; }),
            "offload_activations: got -0.5, want 0 to 1");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.offload.host_memory = Bytes(); }),
            "host_memory_bytes: got none, want that of a node, for the activations of "
            "offload_activations");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.forward_only = true; }),
            "offload_activations: wants backwards, but the plan is forward_only");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.schedule = PipelineSchedule::kPipeDream2bw; }),
            "offload_activations: not with pipedream-2bw; want a schedule that flushes");
  EXPECT_EQ(OffloadNotes(Make(Shared(1, 4, 16))).size(), 1u);
}

}  // namespace
}  // namespace stagecraft
