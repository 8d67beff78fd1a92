// Plan: how a workload is spread over a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "sim/cluster.h"
#include "sim/pipeline/micro_batch_shares.h"
#include "sim/workload.h"

namespace stagecraft {

enum class PipelineOrder { kGpipe, kOneForwardOneBackward, kInterleaved };
const char* Name(PipelineOrder order);

// kSelective drops the score matrices of unfused attention; fused attention
// keeps none, so there it changes nothing.
enum class Recompute { kNone, kSelective, kFull };
const char* Name(Recompute recompute);

// What updates the parameters. kAdam keeps a 32-bit master copy (where they are
// narrower) and two moments, kSgd a master copy and one momentum.
enum class Optimizer { kAdam, kSgd };
const char* Name(Optimizer optimizer);

// How tensors are scaled to 8 bits (NVIDIA Transformer Engine). kDelayed: one
// scale, from the maxima of earlier steps. kCurrent: one scale, from the tensor's
// own maximum, which takes a read of its own. kMx: one for every 32 numbers.
enum class Fp8Recipe { kDelayed, kCurrent, kMx };
const char* Name(Fp8Recipe recipe);

// Bytes it moves to cast 16-bit elements: read, written as rows and, for the
// weight gradient, as columns.
Bytes CastBytes(Fp8Recipe recipe, int64_t elements);

// How the ranks of a context-parallel group see all keys and values. kRing:
// they travel round the group beside the attention they feed (ring attention;
// Megatron-core's p2p). kGather: all of them first (Llama 3). kUlysses: an
// all-to-all gives every rank all rows of some heads, another takes them back
// (DeepSpeed-Ulysses).
enum class ContextExchange { kRing, kGather, kUlysses };
const char* Name(ContextExchange exchange);

// Layers [first, first + count) of Workload::layers.
struct LayerRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

// One position of the pipeline. chunks[c] is its c-th model chunk (virtual
// stage c * stages + stage); all stages have equally many chunks. Each replica
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
  Recompute recompute = Recompute::kNone;
  int expert_parallel = 1;
};

struct Plan {
  std::vector<Stage> stages;
  int64_t micro_batch = 1;   // samples per micro-batch
  int64_t global_batch = 1;  // samples per step
  int64_t sequence = 0;      // tokens per sample
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  DType precision = DType::kBf16;  // of matrix products
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;
  bool forward_only = false;
  bool sequence_parallel = false;
  // What the data-parallel ranks of a stage share out: 0 nothing, 1 optimizer
  // states, 2 gradients too (reduced after every micro-batch), 3 parameters too
  // (gathered layer by layer, the next one while one computes; FSDP).
  int zero = 0;
  // Ranks that share, consecutive in rank order; groups hold copies of each
  // other and all-reduce what is left (hybrid sharding). 0: all of a stage's.
  int zero_group = 0;
  // With zero 3: parameters are dropped after the forward and gathered again
  // for the backward.
  bool reshard_after_forward = true;
  bool overlap_grad_reduce = true;
  bool overlap_param_gather = false;
  // Off: a stage computes nothing while it sends (Megatron-LM's plain 1F1B).
  bool overlap_p2p = true;
  // On: tensor-parallel collectives run beside the product that feeds on them or
  // feeds them (Megatron-core's tp-comm-overlap); needs sequence parallelism.
  bool overlap_tensor = false;
  int gradient_bytes = 4;  // per element, accumulated and reduced
  // Gradients reduced in one go; 0: as Megatron-core, the larger of 40 M
  // parameters and 1 M times the data-parallel ranks.
  int64_t bucket_bytes = 0;
  Optimizer optimizer = Optimizer::kAdam;
  ContextExchange context_exchange = ContextExchange::kRing;
  // Rows of the fullest rank's experts over the mean; 1: even routing.
  double expert_imbalance = 1;
  std::string rank_order = "tp-cp-ep-dp-pp";

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

// Which micro-batches of a step each replica of a stage takes.
MicroBatchShares StageShares(const Plan& plan, int stage);

// Replica r of every stage feeds replica r of the next and no other, so that
// there are as many pipelines as replicas.
bool HasSeparatePipelines(const Plan& plan);

// The same thing said in degrees, as on a command line.
struct PlanDegrees {
  int tensor = 1;
  int pipeline = 1;
  int data = 0;  // 0: derived from the cluster
  int context = 1;
  int expert = 1;
  int chunks = 1;  // virtual stages per device
  int64_t micro_batch = 1;
  int64_t global_batch = 1;
  int64_t sequence = 0;
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  Recompute recompute = Recompute::kSelective;
  DType precision = DType::kBf16;
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;
  int zero = -1;       // -1: 1 where dp > 1
  int zero_group = 0;  // 0: all data-parallel ranks
  bool reshard_after_forward = true;
  int sequence_parallel = -1;  // -1: on where tp > 1
  bool overlap_grad_reduce = true;
  bool overlap_param_gather = false;
  bool forward_only = false;
  bool overlap_p2p = true;
  bool overlap_tensor = false;
  int gradient_bytes = 0;                     // 0: 4, or 2 for fp16
  std::string rank_order = "tp-cp-ep-dp-pp";  // fastest first
  double expert_imbalance = 1;
  int64_t bucket_bytes = 0;
  Optimizer optimizer = Optimizer::kAdam;
  ContextExchange context_exchange = ContextExchange::kRing;
  // Blocks per stage (summed over its chunks), embedding in the first and head
  // in the last; empty: as even as possible.
  std::vector<int> stage_blocks;
  // The stage of the head gives blocks to others, as BalancedBlocks() says.
  bool balance_head = false;
  // Micro-batches of each of the dp replicas; empty: equally many.
  std::vector<int> replica_micro_batches = {};
};

// Blocks per stage where the last one also holds the head: the stage with the
// head gives blocks to the others until the fullest has least arithmetic; of equal
// choices the one with most blocks beside the head; what does not divide goes to
// later stages. At least two stages, and as many blocks.
std::vector<int> BalancedBlocks(const Workload& workload, int64_t sequence, int stages);

// Builds the plan that fills the whole cluster. Throws InputError with the
// arithmetic where degrees, batch or layers do not fit.
Plan MakePlan(const PlanDegrees& degrees, const Workload& workload, const Cluster& cluster);

// Every problem of a plan as a sentence; empty where it can be lowered.
std::vector<std::string> FindErrors(const Plan& plan, const Workload& workload,
                                    const Cluster& cluster);

}  // namespace stagecraft
