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

// Takes as much of `amount` from `number` as it has; returns how much that is.
int64_t TakeAway(int64_t amount, int64_t& number) {
  const int64_t taken = std::min(amount, number);
  number -= taken;
  return taken;
}

// Tensors of at most this many elements stay on every rank and are not gathered (DeepSpeed:
// stage3_param_persistence_threshold). That the update gathers them once a step is left out.
constexpr int64_t kMostPersistent = 100'000;
bool Persists(int64_t elements) { return elements <= kMostPersistent; }

using Tensors = std::vector<int64_t>;  // their sizes

// What one layer of a kind brings into a bucket.
struct OfKind {
  ParameterCount parameters, trained;
  Tensors tensors, trained_tensors;  // with ParameterGather::kTensors
};

void Append(const std::vector<int64_t>& from, std::vector<int64_t>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// Divides a range from its last layer to its first. Gathered buckets are full if they have `size`
// parameters, others if they have as many trained ones.
std::vector<Bucket> DivideChunk(const Workload& workload, LayerRange range, int64_t size,
                                bool gathers, std::span<const OfKind> of_kind) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (int layer = range.first + range.count - 1; layer >= range.first; --layer) {
    const LayerKind& kind = workload.layer(layer);
    const OfKind& own = of_kind[workload.layers[layer]];
    open.layers = {layer, open.layers.count + 1};
    open.parameters += own.parameters;
    open.trained += own.trained;
    Append(own.tensors, open.tensors);
    Append(own.trained_tensors, open.trained_tensors);
    open.has_forward = open.has_forward || !kind.is_cached;
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

bool GathersTensors(const Plan& plan) {
  return plan.framework.parameter_gather == ParameterGather::kTensors && plan.zero >= 3;
}

std::vector<OfKind> OfKinds(const Plan& plan, const Workload& workload, int stage) {
  const std::vector<ParameterCount> parameters = KindParameters(plan, workload, stage);
  const std::vector<ParameterCount> trained = TrainedKindParameters(plan, workload, stage);
  std::vector<OfKind> of_kind;
  for (size_t kind = 0; kind < parameters.size(); ++kind) {
    of_kind.push_back({parameters[kind], trained[kind], {}, {}});
    if (!GathersTensors(plan)) continue;
    const int tensor = plan.stages[stage].tensor_parallel;
    of_kind.back().tensors = ShardTensors(workload.kinds[kind], tensor);
    of_kind.back().trained_tensors = ShardTrainedTensors(workload.kinds[kind], tensor);
    std::erase_if(of_kind.back().tensors, Persists);
  }
  return of_kind;
}

// Takes a tensor of this size out of them, if there is one.
void RemoveTensor(int64_t size, std::vector<int64_t>& tensors) {
  const auto tensor = std::find(tensors.begin(), tensors.end(), size);
  if (size > 0 && tensor != tensors.end()) tensors.erase(tensor);
}

std::vector<std::vector<Bucket>> DivideStage(const Plan& plan, const Workload& workload,
                                             int64_t data_ranks, int stage) {
  const Stage& s = plan.stages[stage];
  const int64_t size = BucketParameters(plan, data_ranks);
  const std::vector<ParameterCount> chunk_parameters = ChunkParameters(plan, workload, stage);
  const std::vector<ParameterCount> chunk_trained = TrainedChunkParameters(plan, workload, stage);
  const std::vector<OfKind> of_kind = OfKinds(plan, workload, stage);
  std::vector<std::vector<Bucket>> by_chunk;
  for (size_t chunk = 0; chunk < s.chunks.size(); ++chunk) {
    std::vector<Bucket> buckets =
        DivideChunk(workload, s.chunks[chunk], size, plan.zero >= 3, of_kind);
    ParameterCount all, trained;
    for (const Bucket& bucket : buckets) {
      all += bucket.parameters;
      trained += bucket.trained;
    }
    // What is tied to another layer of the same stage adds no parameters.
    const int64_t tied = all.dense - chunk_parameters[chunk].dense;
    const int64_t trained_tied = trained.dense - chunk_trained[chunk].dense;
    int64_t added = tied, added_trained = trained_tied;
    for (Bucket& bucket : buckets) {
      added -= TakeAway(added, bucket.parameters.dense);
      added_trained -= TakeAway(added_trained, bucket.trained.dense);
    }
    RemoveTensor(tied, buckets.front().tensors);
    RemoveTensor(trained_tied, buckets.front().trained_tensors);
    by_chunk.push_back(std::move(buckets));
  }
  // Each share of a split vocabulary is one bucket, and none if it is tied to another share.
  for (size_t chunk = s.chunks.size(); chunk < chunk_parameters.size(); ++chunk) {
    by_chunk.emplace_back();
    if (chunk_parameters[chunk].Total() == 0) continue;
    const int64_t table = chunk_parameters[chunk].dense;
    const int64_t trained = chunk_trained[chunk].dense;
    const bool is_tensor = GathersTensors(plan);
    by_chunk.back().push_back({.layers = {},
                               .parameters = chunk_parameters[chunk],
                               .trained = chunk_trained[chunk],
                               .tensors = is_tensor ? Tensors{table} : Tensors(),
                               .trained_tensors = is_tensor ? Tensors{trained} : Tensors(),
                               .has_forward = true,
                               .has_backward = true});
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
