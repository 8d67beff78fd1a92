// What tests of asynchronous pipelines share: chains of operators with given times, on devices
// where everything else takes the time that a test sets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/analysis/steady_state.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/readers/graph_txt.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Profiled operators take their profiled time, other ops the time that a test sets.
class ProfileModel : public CostModel {
 public:
  Duration reduction, update, transfer;

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      if (op.kind == OpKind::kProfiled) estimate.time = op.m * op.profiled;
      if (op.kind == OpKind::kAllReduce) estimate.time = reduction;
      if (op.kind == OpKind::kOptimizer) estimate.time = update;
      if (op.kind == OpKind::kSendRecv) estimate.time = transfer;
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

struct TestStage {
  int replicas = 1;
  Duration forward, backward;
};

// A chain with one operator for each stage.
inline Workload ChainOf(const std::vector<TestStage>& stages) {
  ProfiledGraph graph;
  for (size_t s = 0; s < stages.size(); ++s) {
    ProfiledNode node;
    node.id = std::to_string(s);
    node.description = "Linear";
    node.forward = stages[s].forward;
    node.backward = stages[s].backward;
    node.activation = Bytes(4);
    node.parameters = Bytes(400);
    graph.nodes.push_back(node);
    if (s > 0) graph.edges.push_back({static_cast<int>(s) - 1, static_cast<int>(s)});
  }
  return ToWorkload(graph, "chain");
}

// Stage s holds `layers[s]` layers and has `replicas[s]` devices of its own.
inline Plan PlanOf(const std::vector<int>& replicas, const std::vector<int>& layers,
                   PipelineSchedule schedule) {
  Plan plan;
  plan.schedule = schedule;
  plan.sequence = 1;
  plan.precision = DType::kFp32;
  int device = 0, layer = 0;
  for (size_t s = 0; s < replicas.size(); ++s) {
    Stage stage;
    stage.chunks = {{layer, layers[s]}};
    layer += layers[s];
    for (int r = 0; r < replicas[s]; ++r) stage.replicas.push_back({device++});
    plan.stages.push_back(stage);
  }
  plan.global_batch = *std::max_element(replicas.begin(), replicas.end());
  return plan;
}

// A stretch of a plan, simulated on every device.
struct SimulatedPlan {
  Workload workload;
  Plan plan;
  Schedule schedule;
  Timeline timeline;
  SteadyState state;
};

inline SimulatedPlan Simulate(const Plan& plan, const Workload& workload,
                              const ProfileModel& model) {
  const Cluster cluster = MakeCluster(1, plan.device_count());
  EXPECT_EQ(FindErrors(plan, workload, cluster), std::vector<std::string>());
  SimulatedPlan run;
  run.workload = workload;
  run.plan = plan;
  run.schedule = Lower(plan, workload, cluster, {.unfold = true});
  SimExecutor executor(cluster, model);
  run.timeline = executor.Execute(run.schedule);
  run.state = MeasureSteadyState(plan, workload, run.schedule, run.timeline, executor.costs());
  return run;
}

inline SimulatedPlan SimulateChain(const std::vector<TestStage>& stages, PipelineSchedule schedule,
                                   const ProfileModel& model = {}, int64_t global_batch = 0) {
  std::vector<int> replicas;
  for (const TestStage& stage : stages) replicas.push_back(stage.replicas);
  Plan plan = PlanOf(replicas, std::vector<int>(stages.size(), 1), schedule);
  if (global_batch > 0) plan.global_batch = global_batch;
  return Simulate(plan, ChainOf(stages), model);
}

}  // namespace stagecraft
