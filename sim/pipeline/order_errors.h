// Finds what is wrong with pass orders that a user wrote or a search found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Returns one sentence, or nothing if the orders run every pass of `micro_batches` once: a forward,
// and unless `forward_only` its backward, whole or in two halves. Reports a pass that is out of
// range, missing or repeated, one that comes before a pass of its own stage that it needs, one
// beside no pass or beside one of its own chunk, and a cycle of passes that wait for each other:
//
//   deadlock: rank 4 waits for forward of micro-batch 3 on rank 3, which waits for
//   backward of micro-batch 1 on rank 4
//
// Stages are called ranks, as in files of pass orders; micro-batches are counted within the chunk's
// chain. Linear in the passes.
std::optional<std::string> FindOrderError(const ChunkMap& map, std::span<const PassOrder> orders,
                                          int micro_batches, bool forward_only);

}  // namespace stagecraft
