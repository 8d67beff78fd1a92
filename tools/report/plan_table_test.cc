#include "tools/report/plan_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// A plan whose stages have these numbers of replicas. Its step takes 1.5 s, at half of the peak
// rate.
RankedPlan PlanOf(const std::vector<int>& replicas) {
  RankedPlan ranked;
  for (const int count : replicas) {
    ranked.plan.stages.push_back(
        {.chunks = {{0, 1}}, .replicas = std::vector<std::vector<int>>(count, {0})});
  }
  Evaluation& evaluation = ranked.evaluation;
  evaluation.step_time = Duration::Seconds(1.5);
  evaluation.devices = 24;
  evaluation.model_flops = FlopCount(3e15);
  evaluation.peak = FlopRate(4e15);
  evaluation.memory.resize(1);
  evaluation.memory[0].weights = Bytes(int64_t{1} << 30);
  evaluation.memory[0].capacity = Bytes(int64_t{4} << 30);
  return ranked;
}

std::string TableOf(const std::vector<RankedPlan>& plans, const PlanColumns& columns) {
  const Workload workload = LoadWorkload("megatron:8x1024x16", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const AnalyticalModel model;
  std::ostringstream out;
  PrintPlanTable({.workload = workload, .cluster = cluster, .model = model, .given = {}}, plans,
                 columns, out);
  return out.str();
}

// Numbers are aligned right, so that they end below the last letter of the heading.
TEST(PlanTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  RankedPlan slow = PlanOf({128, 64, 128});
  slow.evaluation.step_time = Duration::Seconds(15);
  slow.plan.zero = 3;
  EXPECT_EQ(TableOf({PlanOf({4}), slow}, {}),
            "rank  step ms    MFU  peak GiB  tp  cp  ep  pp  vpp          dp  micro-batch  "
            "schedule, recomputation, ZeRO\n"
            "   1   1500.0  0.500       1.0   1   1   1   1    1           4            1  "
            "1f1b, none, 0\n"
            "   2  15000.0  0.050       1.0   1   1   1   3    1  128-64-128            1  "
            "1f1b, none, 3\n");
}

TEST(PlanTableTest, CostAndMemoryShareAreShownIfTheyAreAskedFor) {
  EXPECT_EQ(TableOf({PlanOf({16, 4, 8})}, {.cost = true, .memory_share = true}),
            "rank  step ms  GPU-h/step    MFU  peak GiB  of usable  tp  cp  ep  pp  vpp      dp  "
            "micro-batch  schedule, recomputation, ZeRO\n"
            "   1   1500.0        0.01  0.500       1.0     25.0 %   1   1   1   3    1  16-4-8  "
            "          1  1f1b, none, 0\n");
}

}  // namespace
}  // namespace stagecraft
