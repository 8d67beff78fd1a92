// A chain of equal linear layers, for tests that count by hand, and networks whose layers are in
// other states than at first.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/layer_state.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns `layers` layers of one kind, "linear", each a matrix of width x width without a bias.
inline Workload LinearChain(int layers, int64_t width) {
  Operator op{.name = "matrix", .kind = OperatorKind::kLinear, .split = Split::kColumn};
  op.in_features = op.out_features = width;
  op.parameters = width * width;
  op.reads_layer_input = true;
  op.saved = {{.name = "matrix_input", .features = width, .only_for_weights = true}};
  LayerKind kind;
  kind.name = "linear";
  kind.boundary_features = width;
  kind.operators.Add(std::move(op));
  Workload workload;
  workload.name = "chain";
  workload.kinds = {std::move(kind)};
  workload.layers.assign(static_cast<size_t>(layers), 0);
  workload.hidden = width;
  workload.heads = workload.kv_heads = 1;
  workload.max_sequence = 512;
  return workload;
}

// Returns the workload with its layers in these states.
inline Workload With(Workload workload, const std::vector<LayerState>& states) {
  ApplyLayerStates("test", states, workload);
  return workload;
}

// Returns the workload with its first layers frozen, of which the embedding shares the table that
// the head trains.
inline Workload Detached(Workload workload, int frozen) {
  std::vector<LayerState> states(workload.layers.size());
  for (int layer = 0; layer < frozen; ++layer) states[layer].is_trained = false;
  states[0].is_detached = true;
  return With(std::move(workload), states);
}

// Returns the workload with these layers frozen.
inline Workload Frozen(Workload workload, const std::vector<int>& layers) {
  std::vector<bool> is_frozen(workload.layers.size());
  for (const int layer : layers) is_frozen[layer] = true;
  FreezeLayers("test", is_frozen, workload);
  return workload;
}

}  // namespace stagecraft
