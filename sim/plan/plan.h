// Plan: how a workload is spread over a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/micro_batch_shares.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/step_options.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// kSelective drops the score matrices of unfused attention; fused attention keeps none, so there it
// changes nothing. kOperators keeps the outputs of every second GEMM and of fused attention, and
// computes all else of a block again (PyTorch's selective activation checkpointing, as torchtitan
// uses it).
enum class Recompute { kNone, kSelective, kFull, kOperators };
const char* Name(Recompute recompute);

// Layers [first, first + count) of Workload::layers.
struct LayerRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

// One position of the pipeline. chunks[c] is its c-th model chunk, the part of the network that
// MapOf(plan) gives it; all stages have equally many chunks. Each replica is tensor_parallel x
// context_parallel devices, tensor index fastest. Experts are divided over expert_parallel
// consecutive data-parallel ranks (replicas and context indices), each of which holds its share of
// every expert layer.
struct Stage {
  std::vector<LayerRange> chunks;
  int tensor_parallel = 1;
  int context_parallel = 1;
  std::vector<std::vector<int>> replicas;  // device indices
  // How many micro-batches of a step each replica takes, spread evenly over the step. If empty,
  // micro-batch b runs on replica b mod replicas.size().
  std::vector<int> replica_micro_batches = {};
  Recompute recompute = Recompute::kNone;  // of layers that are not in `recomputed`
  int expert_parallel = 1;
  // Ranges of transformer blocks that recompute whole, ascending, each within a chunk: the input of
  // its first layer is kept, and all its forwards run again before its backwards. Empty with kFull,
  // where every block is a range.
  std::vector<LayerRange> recomputed = {};
};

struct Plan : StepOptions {
  std::vector<Stage> stages;
  bool sequence_parallel = false;
  // What the data-parallel ranks of a stage share (ZeRO): 0 nothing, 1 optimizer states, 2 also
  // gradients (reduced after every micro-batch), 3 also parameters (gathered layer by layer, the
  // next one while one computes; FSDP).
  int zero = 0;
  int gradient_bytes = 4;  // per element, accumulated and reduced

  int64_t micro_batches() const { return global_batch / micro_batch; }
  // Bytes of one parameter; GEMMs of fewer than 16 bits cast 16-bit weights.
  int64_t WorkingBytes() const { return ElementBits(WorkingType(precision)) / 8; }
  // The cast of this many elements for GEMMs.
  CastWork CastOf(int64_t elements) const {
    return stagecraft::CastOf(precision, fp8_recipe, elements);
  }
  int chunk_count() const { return static_cast<int>(stages[0].chunks.size()); }
  bool SplitsVocabulary() const { return IsSplit(schedule_options.vocabulary); }
  // The chunks that passes run through: with those of a stage's parts of a split vocabulary.
  int pass_chunk_count() const {
    return chunk_count() + (SplitsVocabulary() ? kVocabularyChunks : 0);
  }
  int device_count() const;
};

// Where the parts of the network are placed.
Placement PlacementOf(const StepOptions& options);
ChunkMap MapOf(const Plan& plan);

// Which micro-batches each replica of a stage takes: of a step, or of what is simulated of a
// pipeline schedule that never ends (asynchronous_plan.h).
MicroBatchShares StageShares(const Plan& plan, int stage);
// Returns how many micro-batches one replica of a stage takes: StageShares().Count(), without
// dividing them.
int ReplicaMicroBatches(const Plan& plan, int stage, int replica);

// Whether replica r of every stage feeds replica r of the next and no other, so that there are as
// many pipelines as replicas.
bool HasSeparatePipelines(const Plan& plan);

// Whether the replicas of a stage run every pass together, because they exchange something in the
// middle of it: parameters that they share (ZeRO-3), or rows of experts that do not all lie within
// one replica. They then take equally many micro-batches.
bool ReplicasKeepStep(const Plan& plan, int stage);

// Which transformer blocks recompute whole, for all stages at once; at most one of `counts` and
// `layers` is given. With Recompute::kFull only these do, and the others keep everything.
struct RecomputeChoice {
  // Megatron-LM's --recompute-method: kBlock recomputes this many first blocks of every chunk,
  // kUniform all blocks, in ranges of this many.
  enum class Method { kBlock, kUniform };
  Method method = Method::kBlock;
  std::vector<int> counts;         // one for all stages, or one for each; empty: not given
  std::vector<LayerRange> layers;  // each layer by itself
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

// A plan in terms of degrees, as on a command line.
struct PlanDegrees : StepOptions {
  int tensor = 1;
  int pipeline = 1;
  int data = 0;     // 0: derived from the number of devices
  int devices = 0;  // the first ones of the cluster; 0: all
  int context = 1;
  int expert = 1;
  int chunks = 1;  // virtual stages per device
  Recompute recompute = Recompute::kSelective;
  RecomputeChoice recompute_choice;
  int sequence_parallel = -1;  // -1: on if tp > 1
  int zero = -1;               // -1: 1 if dp > 1 and gradients are all-reduced, else 0
  int gradient_bytes = 0;      // 0: 4, or 2 for fp16
  // Transformer blocks per stage (summed over its chunks), with the embedding in the first and the
  // head in the last stage, or what is left of them if the vocabulary is split; empty: as even as
  // possible.
  std::vector<int> stage_blocks;
  // The stage with the head gives blocks to others, as in BalancedBlocks(); not with a split
  // vocabulary.
  bool balance_head = false;
  // Numbers of replicas of each stage, in place of `data`; stages then take devices one after
  // another. Empty: equally many.
  std::vector<int> stage_replicas = {};
  // Numbers of micro-batches of each of the dp replicas; empty: equally many.
  std::vector<int> replica_micro_batches = {};
};

// Builds the plan that fills the whole cluster, except for devices that serve
// (SyncOptions::servers). Throws InputError with the arithmetic if degrees, batch or layers do not
// fit.
Plan MakePlan(const PlanDegrees& degrees, const Workload& workload, const Cluster& cluster);

// Layers of a stage other than the first and the last of the network.
int InnerLayers(const Stage& stage, const Workload& workload);

// Every problem of a plan as a sentence; empty if it can be lowered.
std::vector<std::string> FindErrors(const Plan& plan, const Workload& workload,
                                    const Cluster& cluster);

}  // namespace stagecraft
