// What the states of layers change in their operators; ApplyLayerStates() calls these.
#pragma once

#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// Keeps this share of every matrix, and stores nothing else of it; tables, biases and norms stay.
void StoreSparse(double density, LayerKind& layer);

// Freezes all parameters of the layer, and trains beside each matrix (in, out) two matrices (in,
// rank) and (rank, out), whose product is added to it: a row-split matrix sums up `rank` features
// among the ranks of tensor parallelism, a column-split one gathers them. Experts get none.
void AddAdapters(int rank, LayerKind& layer);

// Lets the layer compute `share` of the rows, while others pass it by: a router looks at
// `arriving`, the share of the rows that reaches the layer, and chooses those that it gathers for
// the layer; what the layer makes of them is added to them (Raposo et al., "Mixture-of-Depths",
// 2024).
void AddRouter(double share, double arriving, LayerKind& layer);

// Lets every operator compute this share of its rows.
void TakeRows(double share, LayerKind& layer);

void TakeScores(double density, LayerKind& layer);

// `rows` of each expert, in any unit, for operators with that many experts.
void RouteRows(const std::vector<double>& rows, LayerKind& layer);

}  // namespace stagecraft
