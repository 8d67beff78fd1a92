// RankMemory: what one rank holds while it runs the passes of its pipeline schedule.
#pragma once

#include <memory>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/chunk_tensors.h"
#include "sim/memory/model_states.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// RankTensors are what WalkRank() and ReservationOf() (reservation.h) need to know about a rank.
struct RankTensors {
  ModelStates states;  // one flat buffer for each
  Bytes workspace;     // held all the time: libraries' own, and weights that stay gathered
  Bytes messages;      // held all the time: gradients that the stage before reads
  Bytes nccl;          // held all the time, outside of the allocator
  std::vector<std::shared_ptr<const ChunkTensors>> chunks;  // like chunks are one object
  ChunkPass update;      // what the optimizer step makes and drops, after the last pass
  double offloaded = 0;  // share of what forwards save that goes to the host

  // Returns the bytes that a forward through a chunk offloads.
  Bytes Offloaded(int chunk) const;

  // Returns the memory of the allocator that is held whatever pass runs.
  Bytes Static() const {
    return states.weights + states.gradients + states.optimizer + workspace + messages;
  }
  friend bool operator==(const RankTensors&, const RankTensors&) = default;
};

// Knows which passes make gradients that have no buffers: for each chunk the first one with
// gradients of operators that a split backward does not put off, and the first one with the others.
class GradientMakers {
 public:
  explicit GradientMakers(size_t chunks) : made_(chunks) {}
  // Passes must come in the order in which they run.
  bool Makes(int chunk, Phase phase);

 private:
  struct Made {
    bool now = false;
    bool put_off = false;
  };
  std::vector<Made> made_;
};

// RankPeak is the memory at the moment when the most is allocated, or at the first of several such
// moments.
struct RankPeak {
  Bytes activations;
  Bytes workspace;
  Bytes gradients;      // those that backwards have made; not the buffers of `states`
  Bytes allocated;      // including states and messages
  Bytes update_excess;  // how much of it is beyond the peak of the passes
  Bytes host;           // the most activations that are on the host at any moment
  friend bool operator==(const RankPeak&, const RankPeak&) = default;
};

// Returns the peak of a rank that runs these passes, and then updates its weights. Precondition:
// the passes of every micro-batch through a chunk come as in sim/pipeline: a forward, then a
// backward or its two halves. Copies to and from the host (OffloadedPass) are assumed to begin as
// early and to end as late as they can. Takes time linear in the number of passes.
RankPeak WalkRank(const RankTensors& rank, const PassOrder& order);

}  // namespace stagecraft
