// What is wrong with orders that somebody wrote, or a search found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// One sentence; nothing where the orders run every pass of `micro_batches` once: a
// forward, and unless `forward_only` its backward, whole or in two halves. Names a pass
// out of range, missing or repeated, one before what it needs of its own stage, one
// beside nothing or beside its own chunk, and what waits for what in a circle:
//
//   deadlock: rank 4 waits for forward of micro-batch 3 on rank 3, which waits for
//   backward of micro-batch 1 on rank 4
//
// Stages are called ranks, as in files of orders; micro-batches count within the
// chunk's chain. Linear in the passes.
std::optional<std::string> FindOrderError(const ChunkMap& map, std::span<const PassOrder> orders,
                                          int micro_batches, bool forward_only);

}  // namespace stagecraft
