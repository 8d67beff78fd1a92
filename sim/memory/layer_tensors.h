// LayerTensors: which tensors the passes of one layer make and drop on one rank, operator by
// operator.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/framework_memory.h"
#include "sim/schedule/task_tag.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

enum class TensorRole : uint8_t {
  kActivation,  // kept for a later pass
  kWorkspace,   // dies in the pass that made it
  kGradient,    // of weights, kept until the update
};

// TensorPool says which of the caching allocator's pools a tensor comes from: PyTorch's FSDP
// allocates buffers of collectives on the streams on which these run, and each stream has a pool of
// its own.
enum class TensorPool : uint8_t { kCompute, kGather, kReduce };
inline constexpr int kTensorPools = 3;

// A tensor is made (change > 0) or dropped (change < 0).
struct TensorEvent {
  int64_t change = 0;  // in bytes, rounded as the allocator does
  int32_t tensor = 0;
  int32_t step = 0;  // how many operators of the pass ran before it
  TensorRole role = TensorRole::kWorkspace;
  TensorPool pool = TensorPool::kCompute;
  friend bool operator==(const TensorEvent&, const TensorEvent&) = default;
};

struct PassTensors {
  std::vector<TensorEvent> events;  // in time order
  int steps = 0;                    // the number of operators
  friend bool operator==(const PassTensors&, const PassTensors&) = default;
};

// LayerTensors are the tensors of a layer. Tensors [0, kept) may live from one pass of a
// micro-batch to another; all others die in the pass that made them.
struct LayerTensors {
  int kept = 0;
  int tensors = 0;
  std::array<PassTensors, 4> passes;  // by Phase, IsPass()
  // A layer that is recomputed as a whole runs this forward again, after so many events of its
  // backward.
  PassTensors repeated;
  int before_repeated = 0;
};

// TraceOptions are what the tensors of a layer depend on besides what it computes.
struct TraceOptions {
  bool keeps_input = true;    // it is the first of its range of recomputed layers, if it is in one
  bool keeps_output = false;  // what it hands on stays until its backward
  int gradient_bytes = 0;     // of an element of gradients that have no buffers; 0: they have some
  // The number of a rank's parameters that are tied to another layer, which makes their gradient:
  // the layer's first ones or, if it has an exit, those of the exit.
  int64_t tied = 0;
  bool has_narrow_weights = false;  // there is nothing for FrameworkMemory::casts_weights to cast
  friend bool operator==(const TraceOptions&, const TraceOptions&) = default;
};

// Traces the passes of one layer. The rules are:
// - A forward makes the output, scratch and saved tensors of each operator; the saved tensors that
//   an operator reads are made as soon as the last of its operands exists. An output that no
//   operator saves is dropped after the last operator that reads it.
// - A backward makes the gradients of an operator's operands and, unless its kernel adds to the
//   gradient buffer, of its weights; then it drops what the operator saved and the gradient of its
//   output.
// - A layer that is recomputed as a whole keeps only its input, or nothing if it is not the first
//   of its range; selective recomputation makes the scores of unfused attention again. A layer that
//   repeats its operators keeps half of the outputs of its GEMMs, too, and what fused attention
//   makes, and is traced as if its whole forward ran again.
// - If the backward is split in two, its first part leaves behind the operands of weight gradients:
//   the inputs of GEMMs and the gradients of their outputs.
// - With `forward_only`, or if the layer has no backward, nothing is kept; and nothing is made in a
//   layer whose output is cached. In a frozen layer that
//   has one, operators keep what the gradients of their inputs need, and make no other gradients;
//   in the first trained layer, those that depend on no trained parameters keep nothing.
// - Gradients of weights that have no buffers are made besides, as tensors of role kGradient; only
//   the first micro-batch makes them.
//
// `spec` is that of the layer (LayerSpec).
LayerTensors TraceLayer(const LayerKind& layer, const ShardSpec& spec,
                        const FrameworkMemory& framework, bool forward_only,
                        const TraceOptions& options = {});

}  // namespace stagecraft
