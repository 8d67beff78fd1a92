// ChunkTensors: the tensors of a chunk's passes, layer after layer, and a summary of each pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/layer_tensors.h"

namespace stagecraft {

// PassSummary says how a pass changes what is held at its start, in bytes.
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

// ChunkTensors are the passes of a chunk. Tensors are numbered as in LayerTensors.
struct ChunkTensors {
  int kept = 0;
  int tensors = 0;
  std::array<ChunkPass, 4> passes;  // by Phase, IsPass()

  const ChunkPass& operator[](Phase phase) const { return passes[static_cast<size_t>(phase)]; }
  friend bool operator==(const ChunkTensors&, const ChunkTensors&) = default;
};

// ChunkLayer is one layer of a chunk. Layers without a backward come before those with one. If its
// states are sharded, its passes hold `gathered` and `gradients` for a while; zero means that these
// are held all the time.
struct ChunkLayer {
  const LayerTensors* tensors = nullptr;
  Bytes gathered;   // weights, from the start of the layer that runs before it to its own end
  Bytes gradients;  // from the start of its backward to the end of the next layer's, during which
                    // they are reduced
  Bytes made;       // what its backward leaves behind in gradients that have no buffers
  // Collectives read and write so many bytes of weights and gradients in pools of their own. The
  // first are there as long as `gathered`; the others take the place of `gradients` when the
  // backward of the layer is over.
  Bytes gather_buffer;
  Bytes reduce_buffer;
  // These gradients are reduced when the backward of the whole chunk is over, and held from the
  // start of the layer's backward until then. One layer has the buffer in which those of all are
  // reduced, and what this leaves behind.
  Bytes last_gradients;
  Bytes last_buffer;
  Bytes last_made;
  int repeats = 0;  // how many layers, up to this one, run forward again before its backward
  bool has_backward = true;
  bool gathers_again = true;  // for the backward
  friend bool operator==(const ChunkLayer&, const ChunkLayer&) = default;
};

ChunkTensors JoinLayers(std::span<const ChunkLayer> layers);

}  // namespace stagecraft
