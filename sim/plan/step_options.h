// StepOptions: what a training step does, apart from how its layers and devices are divided.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "costmodel/device.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/framework.h"
#include "sim/plan/rank_order.h"

namespace stagecraft {

// What updates the parameters. All keep a 32-bit master copy if the parameters are narrower. kAdam
// has two moments besides it, kSgd one momentum, kPlainSgd none. kAdam8Bit has two moments of
// 8 bits, with a 32-bit scale for every 256 numbers (block-wise quantisation, Dettmers et al.,
// "8-bit Optimizers", ICLR 2022, in the blocks of bitsandbytes since 0.44), for small tensors and
// embeddings too. kAdam16Bit has two moments of 16 bits (DeepSeek-V3, 2024, section 3.3.3).
enum class Optimizer { kAdam, kSgd, kAdam8Bit, kPlainSgd, kAdam16Bit };
const char* Name(Optimizer optimizer);

// The bytes of master copy and moments of this many parameters, each of `working` bytes in the
// precision of computation.
Bytes OptimizerStates(Optimizer optimizer, int64_t working, int64_t parameters);

// How tensors are scaled to 8 bits (NVIDIA Transformer Engine). kDelayed: one scale, from the
// maxima of earlier steps. kCurrent: one scale, from the tensor's own maximum, for which it is read
// once more. kMx: one scale for every 32 numbers. kRowwise: one scale for every row (torchao), so
// that the rows and, for the weight gradient, the columns are each read for their maxima and again
// for the cast. kBlock: one 32-bit scale for every 128 numbers, which are cast as they are read
// (DeepSeek-V3, 2024, section 3.3.2; Transformer Engine's block scaling).
enum class Fp8Recipe { kDelayed, kCurrent, kMx, kRowwise, kBlock };
const char* Name(Fp8Recipe recipe);

// What it takes to cast 16-bit elements to the precision of GEMMs: these are read, and written as
// rows and, for the weight gradient, as columns. Nothing if the precision has 16 bits or more; the
// recipe counts for fp8 alone. Of nvfp4 a tensor's maximum is needed first, as with kCurrent.
struct CastWork {
  Bytes bytes;  // moved
  int kernels = 0;
};
CastWork CastOf(DType precision, Fp8Recipe recipe, int64_t elements);

// Returns the bytes of this many 8-bit numbers with a 32-bit scale for every 128 of them.
int64_t KeptIn8Bits(int64_t elements);

// Bytes of an element of a gradient if nothing else is asked for.
inline int UsualGradientBytes(DType precision) { return precision == DType::kFp16 ? 2 : 4; }

// How the ranks of a context-parallel group see all keys and values. kRing: these travel round the
// group beside the attention that they feed (ring attention; Megatron-core's p2p). kGather: all of
// them are gathered first (Llama 3). kUlysses: an all-to-all gives every rank all rows of some
// heads, another takes them back (DeepSpeed-Ulysses).
enum class ContextExchange { kRing, kGather, kUlysses };
const char* Name(ContextExchange exchange);

// How the data-parallel ranks of a stage agree on their gradients, including those of experts;
// other reductions stay all-reduces. Fields that a method does not use keep their defaults.
struct SyncOptions {
  SyncMethod method = SyncMethod::kAllReduce;
  // Devices beyond those of the plan for each group of ranks: BytePS at least 0, other methods with
  // servers at least 1.
  int servers = 0;
  int peers = 0;         // of each rank, for gossip; at least 1
  int64_t step = 0;      // rolling server: rank step mod n serves, or the next one
  int dead_server = -1;  // this rank fails as a server but works otherwise; -1: none
  Duration timeout;      // until the others notice it, once for each step
  friend bool operator==(const SyncOptions&, const SyncOptions&) = default;
};

// Says which copies of a token's row go to the ranks of its experts. With kEveryCopy there is one
// for each of the experts (NCCL's all-to-all). With kOncePerNode there is one for each node that
// has some of them, on the rank with the sender's place in its node, which passes it on to the
// ranks there; the way back adds the results up in each node first (DeepSeek's DeepEP,
// Megatron-core's flex dispatcher).
enum class ExpertSends { kEveryCopy, kOncePerNode };
const char* Name(ExpertSends sends);  // "every-copy", "once-per-node"

// Says how tokens travel between the ranks that share the experts.
struct ExpertExchange {
  ExpertSends sends = ExpertSends::kEveryCopy;
  // If true, rows go to their experts, and gradients to those of the expert's output, in 8 bits
  // with a 32-bit scale for every 128 numbers. Results come back in 16 bits.
  bool dispatches_8_bits = false;
  friend bool operator==(const ExpertExchange&, const ExpertExchange&) = default;
};

// Names the parts of blocks that the backward computes again from their inputs, besides what
// `Recompute` says (Megatron-core's --recompute-modules layernorm mla_up_proj moe_act). Layers that
// are recomputed as a whole, or operator by operator, do not need it.
struct RecomputedParts {
  bool norms = false;
  bool latents = false;      // queries, keys and values of latent attention
  bool activations = false;  // of MLPs and experts

  bool Any() const { return norms || latents || activations; }
  friend bool operator==(const RecomputedParts&, const RecomputedParts&) = default;
};
// Returns the words for them, separated by commas: "norms,activations"; "none" for no parts.
std::string Name(const RecomputedParts& parts);
// Returns the parts that such words name; no value if one of them names none.
std::optional<RecomputedParts> FindRecomputedParts(std::string_view names);

// What is kept on the host (sim/plan/host_offload.h).
struct HostOffload {
  bool optimizer = false;  // Adam's states; the host updates
  // The share, in [0, 1], of what forwards save that is offloaded; OffloadedPasses() says which
  // passes, and for how long.
  double activations = 0;
  Bytes host_memory;  // of a node, shared evenly by its devices; set if either is
  friend bool operator==(const HostOffload&, const HostOffload&) = default;
};

struct StepOptions {
  int64_t micro_batch = 1;   // samples per micro-batch
  int64_t global_batch = 1;  // samples per step
  int64_t sequence = 0;      // tokens per sample
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  PipelineScheduleOptions schedule_options;
  // The passes of every pipeline's stages, if `schedule` is kCustom or depends on costs; otherwise
  // empty.
  PassOrders orders;
  Placement placement = Placement::kLooped;  // of kCustom
  DType precision = DType::kBf16;            // of GEMMs
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;
  RecomputedParts recomputed_parts;
  // If true, what is kept only for the weight gradients of GEMMs, and the inputs of activation
  // functions, is kept in 8 bits with a 32-bit scale for every 128 numbers. It needs fp8.
  bool keeps_8_bits = false;
  AttentionKernel attention_kernel = AttentionKernel::kUsual;  // of fused attention
  bool forward_only = false;
  // How many ranks share states (Plan::zero), consecutive in rank order; groups hold copies of each
  // other's states and all-reduce what is left (hybrid sharding). 0: all ranks of a stage.
  int zero_group = 0;
  // With zero 3: whether parameters are dropped after the forward and gathered again for the
  // backward.
  bool reshard_after_forward = true;
  bool overlap_grad_reduce = true;
  bool overlap_param_gather = false;
  // If false, a stage computes nothing while it sends (Megatron-LM's plain 1F1B).
  bool overlap_p2p = true;
  // Whether tensor-parallel collectives run beside the GEMM that they feed or that feeds them
  // (Megatron-core's tp-comm-overlap); needs sequence parallelism.
  bool overlap_tensor = false;
  // Whether a stage updates its parameters as soon as its own gradients are there; the norm of all
  // gradients is checked later, and the step is taken back in the rare case that it is bad
  // (optimizer post-validation: Qi et al., "Zero Bubble", ICLR 2024, section 4). Steps then follow
  // each other on every stage without waiting for the other stages.
  bool post_validation = false;
  // Bytes of gradients that are reduced at once; 0: as in Megatron-core, the larger of 40 M
  // parameters and 1 M times the number of data-parallel ranks.
  int64_t bucket_bytes = 0;
  Optimizer optimizer = Optimizer::kAdam;
  HostOffload offload;
  ContextExchange context_exchange = ContextExchange::kRing;
  SyncOptions gradient_sync;  // methods other than all-reduce need zero 0
  // Rows of the fullest rank's experts over the mean; 1: even routing.
  double expert_imbalance = 1;
  ExpertExchange expert_exchange;
  std::string rank_order = kDefaultRankOrder;
  Framework framework;
};

// What the options ask for that a device cannot do; empty if it can do everything.
std::string FindGpuError(const StepOptions& options, const Device& device);

}  // namespace stagecraft
