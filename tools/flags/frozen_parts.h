// The value of --frozen: which parts of a network are not trained.
#pragma once

#include <string>

#include "sim/workload/workload.h"

namespace stagecraft {

// Freezes layers of the workload. `parts` are separated by commas, each a range of layers, "0-11"
// or "3" (the embedding is layer 0), or the name of a part: "embedding", "blocks", "head", or a
// kind of layers such as "encoder". An empty text freezes nothing. Throws InputError, which names
// --frozen, for anything else, and if what is left cannot be trained (FreezeLayers).
void FreezeParts(const std::string& parts, Workload& workload);

}  // namespace stagecraft
