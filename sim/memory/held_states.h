// HeldStates: the weights and gradients that the layers of a stage hold for a while, if its
// data-parallel ranks share them, and the gradients that backwards make.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/model_states.h"
#include "sim/memory/tied_part.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a rank has of a layer's parameters, and those of them that are trained.
struct HeldParameters {
  ParameterCount all, trained;
};

class HeldStates {
 public:
  // All arguments must outlive it.
  HeldStates(const Plan& plan, const Workload& workload, int stage, const StateSharing& sharing,
             const FrameworkMemory& framework);

  // Whether backwards make the gradients, because these have no buffers.
  bool makes_gradients() const { return makes_gradients_; }
  // Whether passes gather weights.
  bool gathers() const { return gathers_; }
  // Returns the bytes of an element of gradients that operators make one by one; 0 if they do not.
  int OperatorGradientBytes() const;

  // Returns the weights of the stage that stay gathered whatever pass runs. `parameters` are those
  // of each layer, chunk by chunk.
  Bytes StayGathered(std::span<const std::vector<HeldParameters>> parameters) const;

  // Sets what the layers of a chunk hold for a while; `parameters` are theirs.
  void Set(const LayerRange& chunk, std::span<const HeldParameters> parameters,
           std::vector<ChunkLayer>& layers) const;
  // Sets the same of a stage's share of a split vocabulary, which is part of `kind`.
  void SetShare(const LayerKind& kind, const HeldParameters& parameters, ChunkLayer& layer) const;

 private:
  // Root is the group of the tables at both ends of a chunk and of what stands beside them, if
  // layers are wrapped. Layers are numbered within the chunk; -1: none.
  struct Root {
    std::vector<int64_t> own;  // trained ones of each layer that no later one of the group holds
    ParameterCount all, trained;
    int first = -1;
    int first_trained = -1;
  };
  Root RootOf(const LayerRange& chunk, std::span<const HeldParameters> parameters) const;
  // Sets what a layer holds that is not in such a group.
  void SetOwn(const LayerKind& kind, const HeldParameters& parameters, const TiedPart& tied,
              ChunkLayer& layer) const;
  void SetRoot(const Root& root, std::vector<ChunkLayer>& layers) const;

  // Return how many of these parameters several ranks share, and how many a gather makes a copy of.
  int64_t Exchanged(const ParameterCount& parameters) const;
  int64_t Gathered(const ParameterCount& parameters) const;
  // Returns how many of them one rank keeps the gradients of.
  int64_t Kept(const ParameterCount& parameters) const;

  const Plan& plan_;
  const Workload& workload_;
  const int stage_;
  const StateSharing& sharing_;
  int64_t weight_bytes_ = 2;      // of a gathered parameter
  bool gathers_ = false;          // weights, layer by layer
  bool reduces_ = false;          // gradients, layer by layer
  bool makes_gradients_ = false;  // backwards do
  bool wraps_ = false;            // FrameworkMemory::wraps_layers
};

}  // namespace stagecraft
