// Reads files of dynamics, and tables of measured states.
#pragma once

#include <string>
#include <vector>

#include "proto/dynamics.pb.h"
#include "sim/dynamics/dynamics.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Checks everything but DynamicsProto::states, which is for the caller to read with
// MeasuredChanges(). Throws InputError that begins with `file`: "prune.yaml:
// pruning.final_sparsity: got 1, want from 0 to below 1".
Dynamics DynamicsFromProto(const DynamicsProto& proto, const Workload& workload,
                           const std::string& file);

// Reads a table with the columns step and layer, and any of trained, cached (yes or no),
// token_share, weight_density, storage (csr or masked), attention_density and expert_rows (numbers
// with blanks between them). Layers count from 0. A row sets the state of its layer from its step
// on, an empty field or a missing column means the usual value, and steps ascend. Throws InputError
// that begins with the name and the line.
std::vector<NetworkChange> MeasuredChanges(const std::string& text, const std::string& name,
                                           const Workload& workload);

}  // namespace stagecraft
