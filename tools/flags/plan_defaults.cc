// PlanFlags::DegreesFor() and FillBatch(): defaults that depend on the network and the cluster.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "sim/pipeline/pipeline_schedule.h"
#include "sim/workload/limits.h"
#include "tools/flags/plan_flags.h"

namespace stagecraft {
namespace {

// Networks for long contexts are mostly trained on samples of this length: what a network can do is
// no default for what a step does.
constexpr int64_t kUsualSequence = 8192;

}  // namespace

PlanDegrees PlanFlags::DegreesFor(const Workload& workload, std::vector<std::string>& notes) const {
  PlanDegrees degrees = Degrees();
  if (degrees.sequence == 0) {
    degrees.sequence = std::min(workload.max_sequence, kUsualSequence);
    if (degrees.sequence < workload.max_sequence) {
      notes.push_back(fmt::format("--seq is not given: {} tokens per sample, of at most {}",
                                  degrees.sequence, workload.max_sequence));
    }
  }
  if (workload.is_profile() && !IsGiven("--precision")) degrees.precision = DType::kFp32;
  return degrees;
}

void PlanFlags::FillBatch(const Cluster& cluster, PlanDegrees& degrees,
                          std::vector<std::string>& notes) const {
  if (IsGiven("--global-batch")) return;
  int64_t replicas = degrees.data;
  if (!degrees.stage_replicas.empty()) {
    replicas = 1;
    for (const int count : degrees.stage_replicas) {
      if (count > 0) replicas = std::lcm(replicas, static_cast<int64_t>(count));
    }
  } else if (replicas == 0) {
    const double model = static_cast<double>(degrees.tensor) * degrees.context * degrees.pipeline;
    const double serving = static_cast<double>(degrees.pipeline) * degrees.tensor * degrees.expert *
                           std::max(0, degrees.gradient_sync.servers);
    const double left = cluster.device_count() - serving;
    replicas = model >= 1 && left >= model ? static_cast<int64_t>(left / model) : 1;
  }
  // A mini-batch of a pipeline that never flushes is a whole step.
  const bool is_filled = !IsAsynchronous(degrees.schedule) && degrees.pipeline > 1;
  const double batch = static_cast<double>(degrees.micro_batch) * static_cast<double>(replicas) *
                       (is_filled ? degrees.pipeline : 1);
  // Degrees out of range are refused when the plan is made.
  if (!(batch >= 1 && batch <= kMostOfABatch)) return;
  degrees.global_batch = static_cast<int64_t>(batch);
  if (degrees.global_batch == 1) return;
  notes.push_back(fmt::format("--global-batch is not given: {} samples, micro-batch {} x dp {}{}",
                              degrees.global_batch, degrees.micro_batch, replicas,
                              is_filled ? fmt::format(" x pp {}", degrees.pipeline) : ""));
}

}  // namespace stagecraft
