// How many layers each stage gets.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the number of transformer blocks of each stage if the last one also holds the head. That
// stage gives blocks to the others until the stage with the most arithmetic has as little as
// possible; of equal choices the one with most blocks beside the head counts. What does not divide
// evenly goes to later stages. There must be at least two stages, and at least as many blocks as
// stages.
std::vector<int> BalancedBlocks(const Workload& workload, int64_t sequence, int stages);

// Returns the number of layers of every part of a chain, in execution order. `degrees` must be
// resolved. Throws InputError if a part would have no layers.
std::vector<int> PartLayers(const PlanDegrees& degrees, const Workload& workload);
// Gives the stages of a plan these numbers of layers, one for each part of a chain (PartLayers()).
void PlaceLayers(const std::vector<int>& part_layers, const ChunkMap& map, Plan& plan);

}  // namespace stagecraft
