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
// kind. Gathered buckets are full if they have `size` parameters, others if they have as many
// trained ones.
std::vector<Bucket> DivideChunk(const Workload& workload, LayerRange range, int64_t size,
                                bool gathers, std::span<const ParameterCount> of_kind,
                                std::span<const std::vector<int64_t>> tensors_of_kind) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (int layer = range.first + range.count - 1; layer >= range.first; --layer) {
    const LayerKind& kind = workload.layer(layer);
    const ParameterCount& own = of_kind[workload.layers[layer]];
    open.layers = {layer, open.layers.count + 1};
    open.parameters += own;
    if (!tensors_of_kind.empty()) {
      const std::vector<int64_t>& tensors = tensors_of_kind[workload.layers[layer]];
      open.tensors.insert(open.tensors.end(), tensors.begin(), tensors.end());
    }
    if (!kind.is_frozen) open.trained += own;
    open.has_backward = open.has_backward || kind.has_backward();
    const int64_t filled = (gathers ? open.parameters : open.trained).Total();
    if (filled < size && layer > range.first) continue;
    // What is left has nothing to reduce, and no backward beside which anything could run.
    if (!gathers && !open.has_backward && !buckets.empty()) {
      Bucket& last = buckets.back();
      last.layers = {layer, last.layers.count + open.layers.count};
      last.parameters += open.parameters;
      break;
    }
    buckets.push_back(open);
    open = {};
  }
  return buckets;
}

std::vector<std::vector<Bucket>> DivideStage(const Plan& plan, const Workload& workload,
                                             int64_t data_ranks, int stage) {
  const Stage& s = plan.stages[stage];
  const int64_t size = BucketParameters(plan, data_ranks);
  const std::vector<ParameterCount> chunk_parameters = ChunkParameters(plan, workload, stage);
  const std::vector<ParameterCount> chunk_trained = TrainedChunkParameters(plan, workload, stage);
  const std::vector<ParameterCount> of_kind = KindParameters(plan, workload, stage);
  std::vector<std::vector<int64_t>> tensors_of_kind;
  if (plan.framework.parameter_gather == ParameterGather::kTensors && plan.zero >= 3) {
    for (const LayerKind& kind : workload.kinds) {
      tensors_of_kind.push_back(ShardTensors(kind, s.tensor_parallel));
    }
  }
  std::vector<std::vector<Bucket>> by_chunk;
  for (size_t chunk = 0; chunk < s.chunks.size(); ++chunk) {
    std::vector<Bucket> buckets =
        DivideChunk(workload, s.chunks[chunk], size, plan.zero >= 3, of_kind, tensors_of_kind);
    ParameterCount all, trained;
    for (const Bucket& bucket : buckets) {
      all += bucket.parameters;
      trained += bucket.trained;
    }
    // A head tied to the embedding of the same stage adds no parameters.
    buckets.front().parameters.dense -= all.dense - chunk_parameters[chunk].dense;
    buckets.front().trained.dense -= trained.dense - chunk_trained[chunk].dense;
    std::vector<int64_t>& tensors = buckets.front().tensors;
    const int64_t tied = all.dense - chunk_parameters[chunk].dense;
    if (const auto table = std::find(tensors.begin(), tensors.end(), tied);
        tied > 0 && table != tensors.end()) {
      tensors.erase(table);
    }
    by_chunk.push_back(std::move(buckets));
  }
  // Each share of a split vocabulary is one bucket, and none if it is tied to another share.
  for (size_t chunk = s.chunks.size(); chunk < chunk_parameters.size(); ++chunk) {
    by_chunk.emplace_back();
    if (chunk_parameters[chunk].Total() == 0) continue;
    by_chunk.back().push_back({{}, chunk_parameters[chunk], chunk_trained[chunk], {}, true});
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

ParameterCount ParameterBuckets::TrainedParameters(int stage) const {
  ParameterCount sum;
  for (const std::vector<Bucket>& chunk : buckets_[stage]) {
    for (const Bucket& bucket : chunk) sum += bucket.trained;
  }
  return sum;
}

}  // namespace stagecraft
