// Framework: how a training framework carries out what a plan says: what it launches between the
// GEMMs, and in which order it communicates.
#pragma once

#include <string>

namespace stagecraft {

// In an eager framework kernels between GEMMs move so many times the bytes of one fused kernel for
// each norm, activation, residual addition, rotation, softmax and loss: gradients of biases, copies
// between layouts, casts to 32 bits and back, and sums of gradients take the rest. It was fitted
// (docs/cost-model.md).
inline constexpr double kEagerTraffic = 1.8;

// Files may state at most this in place of it.
inline constexpr double kMostElementwiseTraffic = 100;

// BackwardPrefetch says when a backward issues the gather of the parameters of the layer that comes
// next, with zero 3. kBefore: before the layer that computes, so that it runs beside it
// (BACKWARD_PRE of PyTorch's FSDP). kAfter: after that layer; it then queues behind the reduction
// of the layer's gradients, since one communicator runs one collective at a time, and the next
// layer waits for both (BACKWARD_POST).
enum class BackwardPrefetch { kBefore, kAfter };
const char* Name(BackwardPrefetch prefetch);  // "pre", "post"

// ParameterGather says how ranks gather the parameters of a layer, and reduce its gradients, with
// zero 3. kLayers: by one collective each, the gather running ahead of the layer that computes.
// kTensors: by one for every tensor, one after another, once the layer before is done; each takes a
// list of one tensor for every rank, which costs the host and copies (DeepSpeed before 0.6).
enum class ParameterGather { kLayers, kTensors };
const char* Name(ParameterGather gather);  // "layers", "tensors"

// ParameterExchange says how ranks hand on the parameters that they have updated, with zero 1 and
// 2. kGather: one all-gather. kBroadcasts: every rank broadcasts its share, one after another
// (InternEvo).
enum class ParameterExchange { kGather, kBroadcasts };
const char* Name(ParameterExchange exchange);  // "gather", "broadcasts"

// ShardCopies says what ranks copy beside the collectives of zero 3. kNone: nothing. kGradients:
// the gradients of a layer's tensors, into the flat tensor that is reduced (PyTorch's FSDP, whose
// parameters are views of a flat one). kParameters: the gathered parameters of a layer, from the
// buffer of the collective into its tensors (FSDP2).
enum class ShardCopies { kNone, kGradients, kParameters };
const char* Name(ShardCopies copies);  // "none", "gradients", "parameters"

struct Framework {
  double elementwise_traffic = kEagerTraffic;  // at least 1, which a compiler reaches
  // If true, operators that are a KernelChain (sim/workload/workload.h) are launched operation by
  // operation, and the bytes of each are counted. If not, they are one kernel, as others are.
  bool composes_operators = false;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::kBefore;
  ParameterGather parameter_gather = ParameterGather::kLayers;
  ParameterExchange parameter_exchange = ParameterExchange::kGather;
  ShardCopies shard_copies = ShardCopies::kNone;
  // If true, an optimizer step is a sequence of kernels, each of which does one operation of the
  // update to a whole tensor or a list of tensors (torch.optim unless fused). If not, one kernel
  // reads and writes each state once.
  bool updates_by_operations = false;
  // If true, weights have 32 bits, and so do norms and the stream of residuals; GEMMs of 16 bits
  // take what casts make of both (torch.autocast).
  bool autocasts = false;
  // Whether the GEMM of a weight gradient does not add it to those of earlier micro-batches itself:
  // a kernel then reads the new gradient, and reads and writes the sum.
  bool adds_gradients_apart = false;
  // Whether each rank of a tensor-parallel group sends only its part of an activation to the next
  // stage, where the group gathers the parts (Narayanan et al., 2021, section 4.1). Otherwise every
  // rank sends all of it. With sequence parallelism each has only its part anyway.
  bool scatters_messages = false;
  // Whether adding up gradients moves memory at all. If not, they cost what it takes to write them.
  bool sums_gradients = true;
  // If true, passes that run beside each other hide their exchanges of tokens between experts
  // behind each other's computation. If not, they wait for them.
  bool hides_exchanges = true;
  // If true, every expert of a rank multiplies in a GEMM of its own (Megatron-core's
  // SequentialMLP), instead of one grouped GEMM for all of them (--moe-grouped-gemm, DeepGEMM).
  bool multiplies_experts_apart = false;
  // If true, the ranks of a tensor-parallel group wait in the backward for the reduction of an
  // input's gradient, and for the rows that a weight gradient needs, as Megatron-LM did before it
  // hid them behind GEMMs (Korthikanti et al., 2022, section 4.2.2).
  bool exposes_tensor_gradients = false;
  friend bool operator==(const Framework&, const Framework&) = default;
};

}  // namespace stagecraft
