// Which stage has how many layers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Blocks per stage where the last one also holds the head: the stage with the
// head gives blocks to the others until the fullest has least arithmetic; of equal
// choices the one with most blocks beside the head; what does not divide goes to
// later stages. At least two stages, and as many blocks.
std::vector<int> BalancedBlocks(const Workload& workload, int64_t sequence, int stages);

// Layers of every part of a chain, in execution order, of resolved degrees; throws
// InputError where some part would have none.
std::vector<int> PartLayers(const PlanDegrees& degrees, const Workload& workload);
// Gives the stages of a plan so many layers of each part of its chains (PartLayers()).
void PlaceLayers(const std::vector<int>& part_layers, const ChunkMap& map, Plan& plan);

}  // namespace stagecraft
