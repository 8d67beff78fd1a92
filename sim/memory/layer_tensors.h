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
  int32_t step = 0;  // operators of the pass that ran before
  TensorRole role = TensorRole::kWorkspace;
  friend bool operator==(const TensorEvent&, const TensorEvent&) = default;
};

struct PassTensors {
  std::vector<TensorEvent> events;  // in time order
  int steps = 0;                    // operators
  friend bool operator==(const PassTensors&, const PassTensors&) = default;
};

// Tensors [0, kept) may live from one pass of a micro-batch to another; those after them die in
// their pass. A pass leaves nothing of its own behind but kept tensors.
struct LayerTensors {
  int kept = 0;
  int tensors = 0;
  std::array<PassTensors, 4> passes;  // by Phase, IsPass()
  // For a layer that recomputes whole: its forward as it runs again, and how many events of a
  // backward come before it.
  PassTensors repeated;
  int before_repeated = 0;
};

// The rules are:
// - A forward makes the output, scratch and saved tensors of each operator; saved tensors that it
//   reads are made when the last of its operands is there. An output that no operator saves goes
//   with the last operator that reads it.
// - A backward makes the gradients of an operator's operands and, unless its kernel adds to the
//   gradient buffer, of its weights; then what the operator saved and the gradient of its output
//   go.
// - A layer that recomputes whole keeps its input alone, or nothing at all if it is not the first
//   of its range; selective recomputation makes the scores of unfused attention again.
// - If the backward is split in two, the first part leaves the operands of weight gradients: inputs
//   of GEMMs, and gradients of their outputs.
// - `forward_only`: nothing is kept.
//
// `spec` is that of the layer (LayerSpec). `keeps_input`: the layer is the first of its range, if
// it is in one.
LayerTensors TraceLayer(const LayerKind& layer, const ShardSpec& spec,
                        const FrameworkMemory& framework, bool forward_only,
                        bool keeps_input = true);

}  // namespace stagecraft
