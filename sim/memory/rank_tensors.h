// What a rank of a plan holds: the workload's tensors as its stage and sharding
// have them.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "sim/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/rank_memory.h"
#include "sim/plan.h"
#include "sim/shard.h"
#include "sim/workload.h"

namespace stagecraft {

// Layers that are alike are traced once, and chunks of like layers are one object, which
// all its RankTensors share. What it is made of must outlive it.
class RankTensorsMaker {
 public:
  RankTensorsMaker(const Plan& plan, const Workload& workload, const Cluster& cluster,
                   const FrameworkMemory& framework);

  // Of any rank of a replica of a stage; they are alike but for their boards'
  // memory. The board's generation is the first one's.
  RankTensors Make(int stage, int replica);

 private:
  // One layer of some stages.
  struct TracedLayer {
    ShardSpec spec;  // LayerSpec() without fabrics, which change no tensor
    int kind = 0;
    bool keeps_input = false;
    LayerTensors tensors;
    int64_t parameters = 0;
  };
  struct StageParts;

  const TracedLayer& Layer(const ShardSpec& spec, int kind, bool keeps_input);
  std::shared_ptr<const ChunkTensors> Chunk(const StageParts& parts, const LayerRange& range);
  Bytes ScoreBuffer(const StageParts& parts) const;
  Bytes Messages(const StageParts& parts) const;

  const Plan& plan_;
  const Workload& workload_;
  const Cluster& cluster_;
  const FrameworkMemory framework_;
  std::deque<TracedLayer> layers_;
  std::vector<std::pair<std::vector<ChunkLayer>, std::shared_ptr<const ChunkTensors>>> chunks_;
};

}  // namespace stagecraft
