#include "tests/fuzz/simulated_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/step/evaluation_errors.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft::fuzz {
namespace {

constexpr int kMostLayers = 48;
constexpr size_t kMostOperators = 400;  // of all kinds of layers together
constexpr int kMostDevices = 32;
constexpr int64_t kMostMicroBatches = 64;
constexpr int kMostChunks = 16;  // of all stages together
constexpr int64_t kMostSequence = 4096;

PlanDegrees DegreesOf(int stages, const Workload& workload, const Cluster& cluster) {
  PlanDegrees degrees;
  degrees.pipeline = stages;
  degrees.global_batch = cluster.device_count();
  degrees.sequence = std::clamp<int64_t>(workload.max_sequence, 1, kMostSequence);
  if (workload.is_profile()) degrees.precision = DType::kFp32;
  return degrees;
}

}  // namespace

bool IsSmall(const Workload& workload) {
  size_t operators = 0;
  for (const LayerKind& kind : workload.kinds) operators += kind.operators.size();
  return workload.layer_count() <= kMostLayers && operators <= kMostOperators;
}

bool IsSmall(const Cluster& cluster) { return cluster.device_count() <= kMostDevices; }

bool IsSmall(const Plan& plan) {
  int chunks = 0;
  for (const Stage& stage : plan.stages) chunks += static_cast<int>(stage.chunks.size());
  return plan.micro_batches() <= kMostMicroBatches && chunks <= kMostChunks;
}

void CheckStep(const SimulatedStep& step, const Workload& workload, const Cluster& cluster) {
  const Evaluation& evaluation = step.evaluation;
  CHECK(std::isfinite(evaluation.tokens) && evaluation.tokens >= 0);
  // If nothing in the workload takes time, there are no rates to check.
  if (evaluation.step_time == Duration()) return;
  const std::vector<std::string> errors =
      FindEvaluationErrors(evaluation, step.plan, workload, cluster);
  if (!errors.empty()) throw std::logic_error(errors[0]);
}

void Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  if (!IsSmall(plan) || !IsSmall(workload) || !IsSmall(cluster)) return;
  const AnalyticalModel model;
  CheckStep(SimulateStep(plan, workload, cluster, model), workload, cluster);
}

void SimulateWorkload(const Workload& workload) {
  if (!IsSmall(workload)) return;
  static const Cluster cluster = ParseCluster("h100-sxm:1x2");
  for (const int stages : {1, 2}) {
    if (stages > workload.layer_count()) return;
    const PlanDegrees degrees = DegreesOf(stages, workload, cluster);
    Simulate(MakePlan(degrees, workload, cluster), workload, cluster);
  }
}

void SimulateCluster(const Cluster& cluster) {
  if (!IsSmall(cluster)) return;
  static const Workload workload = LoadWorkload("megatron:4x64x4", AttentionBackend::kFlash);
  for (const int stages : {1, 2, 4}) {
    if (cluster.device_count() % stages != 0) return;
    PlanDegrees degrees = DegreesOf(stages, workload, cluster);
    degrees.precision = DType::kFp32;
    Simulate(MakePlan(degrees, workload, cluster), workload, cluster);
  }
}

}  // namespace stagecraft::fuzz
