// RankTensorsMaker: makes the RankTensors of a plan's ranks from the tensors of the workload, as
// stages and sharding divide them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/held_states.h"
#include "sim/memory/rank_memory.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Traces layers that are alike only once; chunks of like layers are one object, which the
// RankTensors of all plans share. The workload and the cluster must outlive it.
class RankTensorsMaker {
 public:
  RankTensorsMaker(const Workload& workload, const Cluster& cluster,
                   const FrameworkMemory& framework);

  // Returns the tensors of any rank of a replica of a stage; its ranks are alike except for the
  // memory of their GPUs. Workspaces are those of the first GPU's generation.
  RankTensors Make(const Plan& plan, int stage, int replica);

  // Returns how many chunks it remembers. After Forget(), equal chunks that are made later are
  // other objects.
  size_t size() const { return chunks_.size(); }
  void Forget();

 private:
  struct LayerKey {
    ShardSpec spec;  // LayerSpec() without fabrics, which change no tensor
    int kind = 0;
    TraceOptions options;
    bool forward_only = false;
    bool is_share = false;  // its share of the vocabulary alone
    friend bool operator==(const LayerKey&, const LayerKey&) = default;
  };
  struct TracedLayer {
    LayerTensors tensors;
    ParameterCount parameters;
    ParameterCount trained;  // of these
  };
  struct StageParts;
  struct KeyHash {
    size_t operator()(const LayerKey& key) const;
    size_t operator()(const std::vector<ChunkLayer>& layers) const;
  };

  const TracedLayer& Layer(const LayerKey& key);
  std::vector<ChunkLayer> Layers(const StageParts& parts, const LayerRange& range);
  ChunkLayer Share(const StageParts& parts, VocabularyPart part);
  std::shared_ptr<const ChunkTensors> Chunk(std::vector<ChunkLayer> layers);
  TraceOptions Options(const StageParts& parts, const LayerRange& range, int layer) const;
  bool HasHead(const StageParts& parts) const;
  Bytes LastOutputs(const StageParts& parts) const;
  // Returns the parameters of every layer, by chunk.
  std::vector<std::vector<HeldParameters>> Parameters(const StageParts& parts) const;
  Bytes ScoreBuffer(const StageParts& parts) const;
  Bytes Messages(const StageParts& parts) const;

  const Workload& workload_;
  const Cluster& cluster_;
  const FrameworkMemory framework_;
  std::unordered_map<LayerKey, TracedLayer, KeyHash> layers_;
  std::unordered_map<std::vector<ChunkLayer>, std::shared_ptr<const ChunkTensors>, KeyHash> chunks_;
};

}  // namespace stagecraft
