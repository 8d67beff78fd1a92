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
};

// A tensor is made (change > 0) or dropped (change < 0).
struct TensorEvent {
  int64_t change = 0;  // in bytes, rounded as the allocator does
  int32_t tensor = 0;
  int32_t step = 0;  // how many operators of the pass ran before it
  TensorRole role = TensorRole::kWorkspace;
  friend bool operator==(const TensorEvent&, const TensorEvent&) = default;
};

struct PassTensors {
  std::vector<TensorEvent> events;  // in time order
  int steps = 0;                    // the number of operators
  friend bool operator==(const PassTensors&, const PassTensors&) = default;
};

// The tensors of a layer. Tensors [0, kept) may live from one pass of a micro-batch to another; all
// others die in the pass that made them.
struct LayerTensors {
  int kept = 0;
  int tensors = 0;
  std::array<PassTensors, 4> passes;  // by Phase, IsPass()
  // For a layer that is recomputed as a whole: the forward that runs again, and how many events of
  // a backward come before it.
  PassTensors repeated;
  int before_repeated = 0;
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
// - With `forward_only`, or if the layer has no backward, nothing is kept. In a frozen layer that
//   has one, operators keep what the gradients of their inputs need, and make no other gradients;
//   in the first trained layer, those that depend on no trained parameters keep nothing.
//
// `spec` is that of the layer (LayerSpec). `keeps_input` says that the layer is the first of its
// range of recomputed layers, if it is in one.
LayerTensors TraceLayer(const LayerKind& layer, const ShardSpec& spec,
                        const FrameworkMemory& framework, bool forward_only,
                        bool keeps_input = true);

}  // namespace stagecraft
