// ChunkTensors: the tensors of a chunk's passes, layer after layer, and a summary of each pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/layer_tensors.h"

namespace stagecraft {

// How a pass changes what is held at its start, in bytes.
struct PassSummary {
  int64_t net = 0;              // what it leaves behind; negative if it frees more
  int64_t peak = 0;             // the most beyond the start at any time
  int64_t peak_activation = 0;  // the part of the peak in kept tensors, and
  int64_t peak_gradient = 0;    // in gradients of weights; the rest dies in the pass
  int64_t net_gradient = 0;     // what it leaves behind in gradients of weights
  double peak_at = 0;           // share of its operators that have run by then
  friend bool operator==(const PassSummary&, const PassSummary&) = default;
};

struct ChunkPass {
  PassTensors tensors;
  PassSummary summary;
  PassSummary later;  // of micro-batches after the first, which make no gradients
  friend bool operator==(const ChunkPass&, const ChunkPass&) = default;
};

// The passes of a chunk. Tensors are numbered as in LayerTensors.
struct ChunkTensors {
  int kept = 0;
  int tensors = 0;
  std::array<ChunkPass, 4> passes;  // by Phase, IsPass()

  const ChunkPass& operator[](Phase phase) const { return passes[static_cast<size_t>(phase)]; }
  friend bool operator==(const ChunkTensors&, const ChunkTensors&) = default;
};

// One layer of a chunk. Layers without a backward come before those with one. If its states are
// sharded, its passes hold `gathered` and `gradients` for a while; zero means that these are held
// all the time. Its backward leaves `made` behind, in gradients that have no buffers of their own.
struct ChunkLayer {
  const LayerTensors* tensors = nullptr;
  Bytes gathered;   // weights, from the start of the layer that runs before it to its own end
  Bytes gradients;  // from the start of its backward to the end of the next layer's, during which
                    // they are reduced
  Bytes made;
  // Bytes of the same that collectives read or write in pools of their own: weights, as long as
  // `gathered`, and gradients, as long as `gradients`.
  Bytes gather_buffer;
  Bytes reduce_buffer;
  int repeats = 0;  // how many layers, up to this one, run forward again before its backward
  bool has_backward = true;
  friend bool operator==(const ChunkLayer&, const ChunkLayer&) = default;
};

ChunkTensors JoinLayers(std::span<const ChunkLayer> layers);

}  // namespace stagecraft
