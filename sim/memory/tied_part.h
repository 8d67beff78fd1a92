// TiedPart: how much of a layer's parameters other layers of its stage hold, too.
#pragma once

#include <cstdint>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Layers that are tied to a home (HomeOfTied()) hold the beginning of its tensor. On one rank that
// is one tensor with one gradient, however many layers of the stage read it. Counts parameters of a
// rank.
struct TiedPart {
  // These are held by a later layer of the same chunk, whose backward runs first and makes their
  // gradient.
  int64_t after = 0;
  // These are held by an earlier layer of the same chunk, whose backward adds the last part of
  // their gradient.
  int64_t before = 0;
  // These are held by a later layer of the network in another chunk of the stage.
  int64_t elsewhere = 0;
  friend bool operator==(const TiedPart&, const TiedPart&) = default;
};

// Returns how many parameters of a layer one rank of the stage holds of what all tied layers share.
int64_t TiedParameters(const Workload& workload, int layer, int tensor_parallel);

// `layer` is one of `range`, which is a chunk of the stage. A split vocabulary ties no layers.
TiedPart TiedPartOf(const Plan& plan, const Workload& workload, int stage, const LayerRange& range,
                    int layer);
// The same of the gradient, which layers whose use of the tensor takes none do not make.
TiedPart TrainedTiedPartOf(const Plan& plan, const Workload& workload, int stage,
                           const LayerRange& range, int layer);

}  // namespace stagecraft
