#include "sim/lowering/parameter_buckets.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// The number of parameters at which a gradient bucket is closed (Megatron-core's default: max(40 M,
// 1 M x data-parallel ranks)).
int64_t BucketParameters(const Plan& plan, int64_t data_ranks) {
  if (plan.zero >= 3) return 1;  // parameters are gathered layer by layer
  if (plan.bucket_bytes > 0) return std::max<int64_t>(1, plan.bucket_bytes / plan.gradient_bytes);
  return std::max<int64_t>(40'000'000, 1'000'000 * data_ranks);
}

// Divides a range from its last layer to its first; `of_kind`: the parameters of a layer by its
// kind.
std::vector<Bucket> DivideChunk(const Workload& workload, LayerRange range, int64_t size,
                                std::span<const ParameterCount> of_kind) {
  std::vector<Bucket> buckets;
  Bucket open{{range.first + range.count, 0}, {}};
  for (int layer = range.first + range.count - 1; layer >= range.first; --layer) {
    open.layers = {layer, open.layers.count + 1};
    open.parameters += of_kind[workload.layers[layer]];
    if (open.parameters.Total() < size && layer > range.first) continue;
    buckets.push_back(open);
    open = {{layer, 0}, {}};
  }
  return buckets;
}

std::vector<std::vector<Bucket>> DivideStage(const Plan& plan, const Workload& workload,
                                             int64_t data_ranks, int stage) {
  const Stage& s = plan.stages[stage];
  const int64_t size = BucketParameters(plan, data_ranks);
  const std::vector<ParameterCount> chunk_parameters = ChunkParameters(plan, workload, stage);
  std::vector<ParameterCount> of_kind;
  for (const LayerKind& kind : workload.kinds) {
    of_kind.push_back(ShardParameters(kind, s.tensor_parallel, s.expert_parallel));
  }
  std::vector<std::vector<Bucket>> by_chunk;
  for (size_t chunk = 0; chunk < s.chunks.size(); ++chunk) {
    std::vector<Bucket> buckets = DivideChunk(workload, s.chunks[chunk], size, of_kind);
    int64_t dense = 0;
    for (const Bucket& bucket : buckets) dense += bucket.parameters.dense;
    // A head tied to the embedding of the same stage adds no parameters.
    buckets.front().parameters.dense -= dense - chunk_parameters[chunk].dense;
    by_chunk.push_back(std::move(buckets));
  }
  return by_chunk;
}

}  // namespace

ParameterBuckets::ParameterBuckets(const Plan& plan, const Workload& workload,
                                   const TrafficRules& rules) {
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    buckets_.push_back(DivideStage(plan, workload, rules.DataRanks(stage), stage));
  }
}

ParameterCount ParameterBuckets::StageParameters(int stage) const {
  ParameterCount sum;
  for (const std::vector<Bucket>& chunk : buckets_[stage]) {
    for (const Bucket& bucket : chunk) sum += bucket.parameters;
  }
  return sum;
}

}  // namespace stagecraft
