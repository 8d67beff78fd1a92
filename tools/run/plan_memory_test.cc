#include "tools/run/plan_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "sim/lowering/lowering.h"
#include "sim/memory/rank_memory.h"
#include "sim/memory/rank_tensors.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/shard/stage_order.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// Returns the most bytes that a rank has allocated at once while its passes run.
int64_t MostAllocated(const Schedule& schedule, int32_t rank, const PlannedMemory& memory) {
  int64_t held = memory.states.count(), most = held;
  std::map<int32_t, int64_t> blocks;
  const auto allocate = [&](const std::vector<Allocation>& all) {
    for (const Allocation& one : all) held += blocks[one.block] = one.bytes.count();
    most = std::max(most, held);
  };
  const auto allocations = PassAllocations(schedule, rank, memory);
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.rank != rank || info.kind != LaneKind::kCompute) continue;
    for (const TaskId task : schedule.order(Lane(lane))) {
      const auto own = allocations.find(task);
      if (own == allocations.end()) continue;
      allocate(own->second.at_begin);
      for (const int32_t block : own->second.freed) held -= blocks.at(block);
      allocate(own->second.at_end);
    }
  }
  EXPECT_EQ(held, memory.states.count());
  return most;
}

// The memory estimate goes through the same passes without an executor.
TEST(PlanMemoryTest, AllocationsPeakWhereTheEstimateDoes) {
  const Workload workload = MakeWorkload(14);
  const Cluster cluster = MakeCluster(1, 4);
  const PlainModel model;
  for (const PipelineSchedule pipeline_schedule :
       {PipelineSchedule::kGpipe, PipelineSchedule::kOneForwardOneBackward,
        PipelineSchedule::kInterleaved, PipelineSchedule::kZeroBubbleH1,
        PipelineSchedule::kZeroBubbleV}) {
    PlanDegrees degrees = Degrees(1, 4);
    degrees.schedule = pipeline_schedule;
    degrees.chunks = LeastChunks(pipeline_schedule);
    const Plan plan =
        WithPassOrders(MakePlan(degrees, workload, cluster), workload, cluster, model);
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    const std::vector<PlannedMemory> memory = PlanMemory(plan, workload, cluster, schedule);
    RankTensorsMaker maker(workload, cluster, FrameworkMemory());
    ASSERT_EQ(memory.size(), 4u);
    for (int32_t rank = 0; rank < 4; ++rank) {
      const int stage = schedule.ranks()[rank].stage;
      const RankTensors tensors = maker.Make(plan, stage, 0);
      const Bytes held_beside = tensors.workspace + tensors.messages;
      EXPECT_EQ(MostAllocated(schedule, rank, memory[rank]),
                (WalkRank(tensors, StageOrder(plan, stage, 0)).allocated - held_beside).count())
          << Name(pipeline_schedule) << " rank " << rank;
    }
  }
}

// Gradients are computed anew; weights and optimizer states would be lost.
TEST(PlanMemoryTest, ARankKeepsEverythingButItsGradients) {
  const Workload workload = MakeWorkload(14);
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan =
      WithPassOrders(MakePlan(Degrees(1, 4), workload, cluster), workload, cluster, PlainModel());
  const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
  const std::vector<PlannedMemory> memory = PlanMemory(plan, workload, cluster, schedule);
  const std::vector<Bytes> kept = KeptStates(plan, workload, cluster, schedule);
  RankTensorsMaker maker(workload, cluster, FrameworkMemory());
  ASSERT_EQ(kept.size(), 4u);
  for (int32_t rank = 0; rank < 4; ++rank) {
    const RankTensors tensors = maker.Make(plan, schedule.ranks()[rank].stage, 0);
    EXPECT_GT(kept[rank], Bytes());
    EXPECT_EQ(kept[rank] + tensors.states.gradients, memory[rank].states);
  }
}

}  // namespace
}  // namespace stagecraft
