// Reads files of layer states.
#pragma once

#include <string>
#include <vector>

#include "proto/layer_state.pb.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Checks numbers and what needs no network.
void CheckLayerStates(const LayerStatesProto& proto, const std::string& file);

// Returns the states by layer. Checks everything but what ApplyLayerStates() checks. Throws
// InputError that begins with `file`: "state.yaml: states[2].token_share: got 1.5, want 0 to 1".
std::vector<LayerState> LayerStatesFromProto(const LayerStatesProto& proto,
                                             const Workload& workload, const std::string& file);

}  // namespace stagecraft
