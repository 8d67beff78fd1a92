// Plan: how a workload is spread over a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/micro_batch_shares.h"
#include "sim/pipeline/order.h"
#include "sim/plan/step_options.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// kSelective drops the score matrices of unfused attention; fused attention
// keeps none, so there it changes nothing.
enum class Recompute { kNone, kSelective, kFull };
const char* Name(Recompute recompute);

// Layers [first, first + count) of Workload::layers.
struct LayerRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

// One position of the pipeline. chunks[c] is its c-th model chunk, the part of the
// network that MapOf(plan) says; all stages have equally many chunks. Each replica
// is tensor_parallel x context_parallel devices, tensor index fastest. Experts are
// divided over expert_parallel consecutive data-parallel ranks (replicas and
// context indices), each of which holds its share of every expert layer.
struct Stage {
  std::vector<LayerRange> chunks;
  int tensor_parallel = 1;
  int context_parallel = 1;
  std::vector<std::vector<int>> replicas;  // device indices
  // Micro-batches of a step that each replica takes, spread evenly over it.
  // Empty: micro-batch b runs on replica b mod replicas.size().
  std::vector<int> replica_micro_batches = {};
  Recompute recompute = Recompute::kNone;  // of layers that `recomputed` does not name
  int expert_parallel = 1;
  // Blocks that recompute whole, ascending, each range within a chunk: its first
  // layer's input is kept, and all its forwards run again before its backwards. Empty
  // with kFull, where every block is a range.
  std::vector<LayerRange> recomputed = {};
};

struct Plan : StepOptions {
  std::vector<Stage> stages;
  bool sequence_parallel = false;
  // What the data-parallel ranks of a stage share out: 0 nothing, 1 optimizer
  // states, 2 gradients too (reduced after every micro-batch), 3 parameters too
  // (gathered layer by layer, the next one while one computes; FSDP).
  int zero = 0;
  int gradient_bytes = 4;  // per element, accumulated and reduced

  int64_t micro_batches() const { return global_batch / micro_batch; }
  // Bytes of one parameter as it is computed with; 8-bit products cast 16-bit
  // weights.
  int64_t WorkingBytes() const { return precision == DType::kFp8 ? 2 : ElementSize(precision); }
  // What casting so many elements for the products moves; none where there is no cast.
  Bytes CastBytes(int64_t elements) const {
    return precision == DType::kFp8 ? stagecraft::CastBytes(fp8_recipe, elements) : Bytes();
  }
  int chunk_count() const { return static_cast<int>(stages[0].chunks.size()); }
  int device_count() const;
};

// Where the parts of the network stand.
Placement PlacementOf(const StepOptions& options);
ChunkMap MapOf(const Plan& plan);

// Which micro-batches of a step, or of what is simulated of an order that never ends
// (asynchronous_plan.h), each replica of a stage takes.
MicroBatchShares StageShares(const Plan& plan, int stage);

// Replica r of every stage feeds replica r of the next and no other, so that
// there are as many pipelines as replicas.
bool HasSeparatePipelines(const Plan& plan);

// Whether the replicas of a stage run every pass together, because they exchange something in
// the middle of it: parameters that they share out (ZeRO-3), or rows of experts that do not
// all lie within one replica. They take equally many micro-batches.
bool ReplicasKeepStep(const Plan& plan, int stage);

// Which blocks recompute whole, said of all stages at once; at most one of the two.
// With Recompute::kFull these alone do, and the others keep everything.
struct RecomputeChoice {
  // Megatron-LM's --recompute-method: kBlock recomputes so many first blocks of every
  // chunk, kUniform all blocks, in ranges of so many.
  enum class Method { kBlock, kUniform };
  Method method = Method::kBlock;
  std::vector<int> counts;         // one for all stages, or one each; empty: not said so
  std::vector<LayerRange> layers;  // each layer by itself
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

// The same thing said in degrees, as on a command line.
struct PlanDegrees : StepOptions {
  int tensor = 1;
  int pipeline = 1;
  int data = 0;     // 0: derived from the devices
  int devices = 0;  // of the cluster, its first ones; 0: all
  int context = 1;
  int expert = 1;
  int chunks = 1;  // virtual stages per device
  Recompute recompute = Recompute::kSelective;
  RecomputeChoice recompute_choice;
  int sequence_parallel = -1;  // -1: on where tp > 1
  int zero = -1;               // -1: 1 where dp > 1 and gradients are all-reduced
  int gradient_bytes = 0;      // 0: 4, or 2 for fp16
  // Blocks per stage (summed over its chunks), embedding in the first and head
  // in the last; empty: as even as possible.
  std::vector<int> stage_blocks;
  // The stage of the head gives blocks to others, as BalancedBlocks() says.
  bool balance_head = false;
  // Replicas of each stage, in place of `data`; stages then take devices one after
  // another. Empty: equally many.
  std::vector<int> stage_replicas = {};
  // Micro-batches of each of the dp replicas; empty: equally many.
  std::vector<int> replica_micro_batches = {};
};

// Builds the plan that fills the whole cluster, but for devices that serve
// (SyncOptions::servers). Throws InputError with the
// arithmetic where degrees, batch or layers do not fit.
Plan MakePlan(const PlanDegrees& degrees, const Workload& workload, const Cluster& cluster);

// Layers of a stage between the first and the last of the network.
int InnerLayers(const Stage& stage, const Workload& workload);

// Every problem of a plan as a sentence; empty where it can be lowered.
std::vector<std::string> FindErrors(const Plan& plan, const Workload& workload,
                                    const Cluster& cluster);

}  // namespace stagecraft
