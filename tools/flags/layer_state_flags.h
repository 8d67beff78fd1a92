// The values of --layer-state and --frozen: what the layers of a network are at a moment of a
// training run.
#pragma once

#include <string>

#include "sim/workload/workload.h"

namespace stagecraft {

// Gives the layers of the workload the states of a file (proto/layer_state.proto), then freezes
// those among `frozen`, parts of the network as LayersOfParts() reads them. Empty texts change
// nothing. Throws InputError, which names the file or --frozen, for what these cannot read, and if
// no layers are left to be trained, or others of ApplyLayerStates().
void ApplyStateFlags(const std::string& file, const std::string& frozen, Workload& workload);

}  // namespace stagecraft
