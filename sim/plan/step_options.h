// StepOptions: what a training step does besides how its layers and devices are
// divided.
#pragma once

#include <cstdint>
#include <string>

#include "costmodel/device.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/units.h"
#include "sim/pipeline/make_orders.h"
#include "sim/pipeline/order_kind.h"
#include "sim/plan/rank_order.h"

namespace stagecraft {

// What updates the parameters. All keep a 32-bit master copy where they are narrower.
// kAdam: two moments beside it, kSgd one momentum, kPlainSgd none. kAdam8Bit: two
// moments of 8 bits, with a 32-bit scale for every 256 numbers (block-wise
// quantisation, Dettmers et al., "8-bit Optimizers", ICLR 2022, in the blocks of
// bitsandbytes since 0.44), small tensors and embeddings too.
enum class Optimizer { kAdam, kSgd, kAdam8Bit, kPlainSgd };
const char* Name(Optimizer optimizer);

// Master copy and moments of so many parameters, each computed with in `working` bytes.
Bytes OptimizerStates(Optimizer optimizer, int64_t working, int64_t parameters);

// How tensors are scaled to 8 bits (NVIDIA Transformer Engine). kDelayed: one
// scale, from the maxima of earlier steps. kCurrent: one scale, from the tensor's
// own maximum, which takes a read of its own. kMx: one for every 32 numbers.
enum class Fp8Recipe { kDelayed, kCurrent, kMx };
const char* Name(Fp8Recipe recipe);

// Bytes it moves to cast 16-bit elements: read, written as rows and, for the
// weight gradient, as columns.
Bytes CastBytes(Fp8Recipe recipe, int64_t elements);

// Of an element of a gradient, where nothing else is asked for.
inline int UsualGradientBytes(DType precision) { return precision == DType::kFp16 ? 2 : 4; }

// How the ranks of a context-parallel group see all keys and values. kRing:
// they travel round the group beside the attention they feed (ring attention;
// Megatron-core's p2p). kGather: all of them first (Llama 3). kUlysses: an
// all-to-all gives every rank all rows of some heads, another takes them back
// (DeepSpeed-Ulysses).
enum class ContextExchange { kRing, kGather, kUlysses };
const char* Name(ContextExchange exchange);

// How the data-parallel ranks of a stage agree on their gradients, experts' too;
// other reductions stay all-reduces. What a method does not use stays as it is here.
struct SyncOptions {
  SyncMethod method = SyncMethod::kAllReduce;
  // For each group of ranks, of devices beyond the plan's: BytePS at least 0, else 1.
  int servers = 0;
  int peers = 0;         // of a rank: gossip, at least 1
  int64_t step = 0;      // rolling server: its rank is step mod n, or the next
  int dead_server = -1;  // where it is this rank, that still works otherwise; -1: none
  Duration timeout;      // until the others notice it, once a step
  friend bool operator==(const SyncOptions&, const SyncOptions&) = default;
};

// What is kept with the host (sim/plan/host_offload.h).
struct HostOffload {
  bool optimizer = false;  // Adam's states; the host updates
  // In [0, 1]: of what forwards save, as OffloadedPasses() says which and how long.
  double activations = 0;
  Bytes host_memory;  // of a node, shared out evenly by its devices; set where either is
  friend bool operator==(const HostOffload&, const HostOffload&) = default;
};

struct StepOptions {
  int64_t micro_batch = 1;   // samples per micro-batch
  int64_t global_batch = 1;  // samples per step
  int64_t sequence = 0;      // tokens per sample
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  OrderOptions order_options;
  // What every pipeline's stages run, where `order` is kCustom or depends on costs;
  // else empty.
  PipelineOrders orders;
  Placement placement = Placement::kLooped;  // of kCustom
  DType precision = DType::kBf16;            // of matrix products
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;
  bool forward_only = false;
  // Ranks that share (Plan::zero), consecutive in rank order; groups hold copies
  // of each other and all-reduce what is left (hybrid sharding). 0: all of a
  // stage's.
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
  // On: a stage updates its parameters as soon as its own gradients are there; the norm
  // of all is judged later, and the step taken back in the rare case that it is bad
  // (optimizer post-validation: Qi et al., "Zero Bubble", ICLR 2024, section 4). Steps
  // then follow each other on every stage without waiting for the others.
  bool post_validation = false;
  // Gradients reduced in one go; 0: as Megatron-core, the larger of 40 M
  // parameters and 1 M times the data-parallel ranks.
  int64_t bucket_bytes = 0;
  Optimizer optimizer = Optimizer::kAdam;
  HostOffload offload;
  ContextExchange context_exchange = ContextExchange::kRing;
  SyncOptions gradient_sync;  // other than all-reduce: with zero 0
  // Rows of the fullest rank's experts over the mean; 1: even routing.
  double expert_imbalance = 1;
  std::string rank_order = kDefaultRankOrder;
};

// What a device cannot do that these ask for; empty where it can.
std::string FindBoardError(const StepOptions& options, const Device& device);

}  // namespace stagecraft
