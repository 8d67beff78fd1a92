// RankMemory: what one rank holds while it walks its order of passes.
#pragma once

#include <memory>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/chunk_tensors.h"
#include "sim/memory/model_states.h"
#include "sim/pipeline/order.h"

namespace stagecraft {

// What the walk needs to know of a rank.
struct RankTensors {
  ModelStates states;  // a flat buffer each
  Bytes workspace;     // held all the time: of libraries, of weights that stay gathered
  Bytes messages;      // held all the time: what a neighbour reads
  Bytes nccl;          // held all the time, outside of the allocator
  std::vector<std::shared_ptr<const ChunkTensors>> chunks;  // equal where they are one object
  double offloaded = 0;  // share of what forwards save that goes to the host (OffloadedPass)

  // Of a forward through a chunk.
  Bytes Offloaded(int chunk) const;

  // Of the allocator, whatever pass runs.
  Bytes Static() const {
    return states.weights + states.gradients + states.optimizer + workspace + messages;
  }
  friend bool operator==(const RankTensors&, const RankTensors&) = default;
};

// At the moment when most is allocated, the first of equals.
struct RankPeak {
  Bytes activations;
  Bytes workspace;
  Bytes allocated;  // with states and messages
  Bytes host;       // at any moment, the most of activations with the host
};

// Every micro-batch's passes through a chunk come in an order of sim/pipeline:
// forward, then a backward or its two halves. Copies to and from the host begin as early and
// end as late as they can. Linear in the passes.
RankPeak WalkRank(const RankTensors& rank, const PassOrder& order);

// Orders repeat themselves: no more passes than these are replayed.
inline constexpr int kReplayedPasses = 32;

// Segments over what is allocated in them, at their most; at least 1. The first
// passes of the order go through the allocator, until the segments they use are
// enough for the next ones too, with nothing on the host: linear in their operators. `capacity`:
// what the board leaves to the allocator; where that is too little, as if it were more.
double ReservedShare(const RankTensors& rank, const PassOrder& order, Bytes capacity);

}  // namespace stagecraft
