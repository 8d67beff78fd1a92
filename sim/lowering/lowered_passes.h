// The first half of a lowering: ranks, lanes and the passes of every simulated
// pipeline. The update that ends a step is added on top.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/lowering/block_table.h"
#include "sim/lowering/fold.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/pass_tasks.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Layers whose gradients are reduced, and parameters gathered, in one go.
struct Bucket {
  LayerRange layers;
  ParameterCount parameters;  // on one rank
};

// A replica of a stage as it is simulated.
struct LoweredWorker {
  int instance = 0;
  int stage = 0;
  int replica = 0;                  // as the plan counts
  int shard = 0;                    // in the block table
  std::vector<int32_t> ranks;       // simulated ranks: one, or every device
  std::vector<Lane> data;           // by rank
  std::vector<Pass> first_forward;  // by chunk
  std::vector<Pass> last_backward;  // by chunk: after it weight gradients are complete
  PassOrder order;
  std::vector<WeightUpdate> updates;  // among its passes; of asynchronous pipelines
};

class LoweredPasses : private PassCosts {
 public:
  // With `updates`, the passes beside which gradients are reduced or
  // parameters gathered are divided at bucket borders.
  LoweredPasses(const Plan& plan, const Workload& workload, LoweringMemory& memory, bool unfold,
                bool updates, Schedule::Builder& builder);
  LoweredPasses(const LoweredPasses&) = delete;

  LoweringMemory& memory() const { return memory_; }
  const PlacedPlan& placed() const { return placed_; }
  const Folding& folding() const { return placed_.folding(); }
  bool updates() const { return updates_; }
  std::span<const LoweredWorker> workers() const { return workers_; }
  // All lanes that compute, by rank.
  std::span<const Lane> compute_lanes() const { return compute_lanes_; }
  BlockTable& blocks() { return blocks_; }
  // In the order in which their gradients get ready: the last layers first.
  std::span<const Bucket> buckets(int stage, int chunk) const { return buckets_[stage][chunk]; }
  ParameterCount StageParameters(int stage) const;

  int64_t DataRanks(int stage) const { return data_ranks_[stage]; }
  // Gradients are reduced bucket by bucket beside the last backward only, or
  // beside every one; parameters are gathered beside the first forward only, or
  // beside every pass.
  bool OverlapsReduction(int stage) const;
  bool OverlapsGather(int stage) const;
  bool ReducesEveryPass(int stage) const;
  bool GathersEveryPass(int stage) const;

  // First and last task of a pass of a worker.
  TaskId First(size_t worker, const Pass& pass) const;
  TaskId Last(size_t worker, const Pass& pass) const;
  // By index into LoweredWorker::updates.
  TaskId Update(size_t worker, size_t index) const;

 private:
  // Blocks of a chunk's passes by Phase: whole, divided into buckets, and whole
  // beside another pass.
  struct ChunkBlocks {
    std::array<std::vector<BlockId>, 4> whole, divided, paired;
  };

  void FindBuckets(int stage);
  void AddInstance(int index);
  PipelineWorker AddWorker(int instance, int stage, int position, PassOrder order);
  void FindDividedPasses(const PassOrder& order, LoweredWorker& worker) const;
  bool DividesSome(int stage, Phase phase) const;
  // Its gradients are the last of an update's.
  static bool CompletesUpdate(const LoweredWorker& worker, const Pass& pass);
  bool IsDivided(const LoweredWorker& worker, const Pass& pass) const;
  void MakeBlocks(const LoweredWorker& worker);
  std::vector<BlockId> BucketBlocks(const LoweredWorker& worker, int chunk, Phase phase);
  std::span<const BlockId> Parts(int worker, const Pass& pass, bool paired) const override;
  BlockId Transfer(int from, int to, const Pass& pass, int device) const override;
  BlockId Update(int worker) const override;
  int32_t Channel(int from, int to, int device) const override;
  int stages() const { return static_cast<int>(plan_.stages.size()); }

  const Plan& plan_;
  const Workload& workload_;
  const bool updates_;
  Schedule::Builder& builder_;
  LoweringMemory& memory_;
  PlacedPlan& placed_;
  std::vector<int64_t> data_ranks_;  // by stage
  mutable BlockTable blocks_;
  std::vector<std::vector<std::vector<Bucket>>> buckets_;  // stage, chunk
  std::vector<LoweredWorker> workers_;
  std::vector<size_t> instance_begin_;                  // first worker of each instance
  std::vector<std::vector<ChunkBlocks>> chunk_blocks_;  // worker, chunk
  std::vector<PassTasks> tasks_;                        // by instance
  std::vector<Lane> compute_lanes_;                     // by rank
  // Sending and receiving worker, and a third number.
  struct Message {
    size_t from = 0;
    size_t to = 0;
    int index = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };
  struct MessageHash {
    size_t operator()(const Message& message) const {
      return (message.from * 0x9e3779b97f4a7c15ull ^ message.to) * 0x9e3779b97f4a7c15ull +
             static_cast<size_t>(message.index);
    }
  };
  // The key is the layer whose output, or its gradient, is sent, and the index of the sender.
  mutable std::unordered_map<Message, BlockId, MessageHash> transfers_;
  // By the index of the sending device.
  mutable std::unordered_map<Message, int32_t, MessageHash> channels_;
};

}  // namespace stagecraft
