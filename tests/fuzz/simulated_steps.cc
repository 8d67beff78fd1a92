#include "tests/fuzz/simulated_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/breakdown.h"
#include "sim/cluster_spec.h"
#include "sim/memory/stage_memory.h"
#include "sim/workload_catalogue.h"

namespace stagecraft::fuzz {
namespace {

constexpr int kMostLayers = 48;
constexpr size_t kMostOperators = 400;  // of all kinds
constexpr int kMostDevices = 32;
constexpr int64_t kMostMicroBatches = 64;
constexpr int kMostChunks = 16;  // of all stages
constexpr int64_t kMostSequence = 4096;
constexpr double kRounding = 1e-9;

bool IsShare(double value) { return value >= 0 && value <= 1 + kRounding; }

void CheckProfile(const StepProfile& profile) {
  const Breakdown& parts = profile.breakdown;
  for (const Duration part : {parts.compute, parts.tensor, parts.pipeline, parts.data,
                              parts.context, parts.expert, parts.optimizer, parts.bubble}) {
    CHECK(part >= Duration());
  }
  CHECK(IsShare(profile.bubble_fraction));
  CHECK(std::isfinite(profile.spread) && profile.spread >= 0);
  CHECK(profile.host_wait >= Duration());
  for (const double share : profile.basis_share) CHECK(IsShare(share));
}

void CheckMemory(const Evaluation& evaluation) {
  bool fits = true;
  for (const StageMemory& stage : evaluation.memory) {
    for (const Bytes bytes :
         {stage.weights, stage.gradients, stage.optimizer, stage.activations, stage.workspace,
          stage.communication, stage.framework, stage.fragmentation, stage.allocated, stage.host}) {
      CHECK(bytes >= Bytes());
    }
    fits = fits && stage.fits();
  }
  CHECK(evaluation.fits == fits);
}

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

void CheckStep(const SimulatedStep& step) {
  const Evaluation& evaluation = step.evaluation;
  CHECK(evaluation.step_time >= Duration());
  CHECK(evaluation.step_time_low >= Duration());
  CHECK(evaluation.step_time_low <= evaluation.step_time);
  CHECK(evaluation.step_time <= evaluation.step_time_high);
  CHECK(evaluation.unshared_time >= Duration());
  CHECK(evaluation.unshared_time <= evaluation.step_time);
  CheckProfile(evaluation.profile);
  if (!evaluation.steady) CHECK(evaluation.profile.breakdown.Total() == evaluation.step_time);
  CheckMemory(evaluation);
  CHECK(std::isfinite(evaluation.tokens) && evaluation.tokens >= 0);
  if (evaluation.step_time > Duration()) {
    CHECK(std::isfinite(evaluation.hfu()) && evaluation.hfu() >= 0);
    // Times of a profile do not follow from FLOPs, and 8-bit products are measured against
    // the rate of 16 bits.
    const bool has_rate = step.plan.precision != DType::kFp8;
    if (has_rate) CHECK(IsShare(evaluation.mfu()));
  }
}

void Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  if (!IsSmall(plan) || !IsSmall(workload) || !IsSmall(cluster)) return;
  const AnalyticalModel model;
  CheckStep(SimulateStep(plan, workload, cluster, model));
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
