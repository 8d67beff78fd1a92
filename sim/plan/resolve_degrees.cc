#include "sim/plan/resolve_degrees.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/check.h"
#include "sim/plan/asynchronous_plan.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

void CheckPositive(const char* name, int64_t value, int64_t most) {
  if (value < 1 || value > most) {
    throw InputError(fmt::format("{}: got {}, want 1 to {}", name, value, most));
  }
}

// Returns the number of devices that are no servers; if dp is given, no more than it uses.
int64_t WorkingDevices(const PlanDegrees& d, int64_t model, const Cluster& cluster) {
  const int64_t all = d.devices > 0 ? d.devices : cluster.device_count();
  if (d.gradient_sync.servers <= 0) return all;
  const double groups = static_cast<double>(d.pipeline) * d.tensor * d.expert;
  const double serving = groups * d.gradient_sync.servers;
  const int64_t left = serving < static_cast<double>(all) ? all - static_cast<int64_t>(serving) : 0;
  return d.data > 0 && d.data * model <= left ? d.data * model : left;
}

// Numbers of replicas for each stage replace dp.
void ResolveStageReplicas(const Cluster& cluster, PlanDegrees& d) {
  int64_t replicas = 0;
  for (const int count : d.stage_replicas) {
    CheckPositive("stage replicas", count, kMostOfADegree);
    replicas += count;
  }
  if (static_cast<int>(d.stage_replicas.size()) != d.pipeline) {
    throw InputError(fmt::format("stage replicas: got {} numbers, want one for each of pp {}",
                                 d.stage_replicas.size(), d.pipeline));
  }
  if (d.data != 0 || !d.replica_micro_batches.empty() || d.rank_order != kDefaultRankOrder) {
    throw InputError(
        "stage replicas: got dp, replica micro-batches or a rank order too, want none of these");
  }
  const int64_t devices = replicas * d.tensor * d.context;
  if (devices > cluster.device_count()) {
    throw InputError(
        fmt::format("stage replicas: {} of tp {} x cp {} are {} devices, but {} has {}", replicas,
                    d.tensor, d.context, devices, cluster.name(), cluster.device_count()));
  }
  d.data = *std::max_element(d.stage_replicas.begin(), d.stage_replicas.end());
}

void ResolveData(const Cluster& cluster, PlanDegrees& d) {
  const int64_t model = static_cast<int64_t>(d.tensor) * d.context * d.pipeline;
  const int64_t world = WorkingDevices(d, model, cluster);
  const std::string beside = d.gradient_sync.servers > 0 ? " that are not parameter servers" : "";
  if (model > world || world % model != 0) {
    throw InputError(
        fmt::format("tp {} x cp {} x pp {} = {} does not divide the {} devices of {}{}", d.tensor,
                    d.context, d.pipeline, model, world, cluster.name(), beside));
  }
  if (d.data != 0 && d.data * model != world) {
    throw InputError(fmt::format("dp: tp {} x cp {} x pp {} x dp {} = {}, but {} has {} devices{}",
                                 d.tensor, d.context, d.pipeline, d.data, d.data * model,
                                 cluster.name(), world, beside));
  }
  d.data = static_cast<int>(world / model);
  const int64_t data_ranks = static_cast<int64_t>(d.data) * d.context;
  if (data_ranks % d.expert != 0) {
    throw InputError(fmt::format("expert parallel: {} does not divide dp {} x cp {} = {}", d.expert,
                                 d.data, d.context, data_ranks));
  }
  const bool is_even = d.replica_micro_batches.empty();
  if (is_even && d.global_batch % (d.micro_batch * d.data) != 0) {
    throw InputError(
        fmt::format("global batch: {} is not a multiple of micro-batch {} x dp {} = {}",
                    d.global_batch, d.micro_batch, d.data, d.micro_batch * d.data));
  }
}

}  // namespace

PlanDegrees ResolveDegrees(const PlanDegrees& degrees, const Cluster& cluster) {
  PlanDegrees d = degrees;
  if (d.devices < 0 || d.devices > cluster.device_count()) {
    throw InputError(fmt::format("devices: got {}, want at most the {} of {}", d.devices,
                                 cluster.device_count(), cluster.name()));
  }
  CheckPositive("tensor parallel", d.tensor, kMostOfADegree);
  CheckPositive("pipeline parallel", d.pipeline, kMostOfADegree);
  CheckPositive("context parallel", d.context, kMostOfADegree);
  CheckPositive("virtual stages", d.chunks, kMostOfADegree);
  CheckPositive("micro-batch", d.micro_batch, kMostOfABatch);
  CheckPositive("global batch", d.global_batch, kMostOfABatch);
  CheckPositive("sequence", d.sequence, kMostOfABatch);
  CheckPositive("expert parallel", d.expert, kMostOfADegree);
  if (d.stage_replicas.empty()) {
    ResolveData(cluster, d);
  } else {
    ResolveStageReplicas(cluster, d);
  }
  if (d.sequence_parallel < 0) d.sequence_parallel = d.tensor > 1;
  d.sequence_parallel = d.sequence_parallel != 0 && d.tensor > 1;
  if (d.zero < 0) {
    const bool is_plain =
        d.gradient_sync.method == SyncMethod::kAllReduce && !IsAsynchronous(d.schedule);
    d.zero = is_plain && d.data * d.context > 1 && !d.forward_only ? 1 : 0;
  }
  if (d.gradient_bytes == 0) d.gradient_bytes = UsualGradientBytes(d.precision);
  d.schedule = ForChunks(d.schedule, d.chunks);
  const Placement placement = PlacementOf(d);
  // A pipeline schedule with a placement of its own need not be told how many chunks it has.
  if (d.chunks == 1 && placement != Placement::kLooped) d.chunks = LeastChunks(d.schedule);
  const std::string problem = FindChunkError(d.schedule, placement, d.pipeline, d.chunks);
  if (!problem.empty()) throw InputError(problem);
  return d;
}

}  // namespace stagecraft
