// Layers of a network whose weights are one tensor: an embedding and a head, or heads of exits.
#pragma once

#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the layer in which a tensor that several layers share counts: the first one or, if heads
// of exits alone share it, the last one. -1 if there is no such tensor.
int HomeOfTied(const Workload& workload);

// Returns all layers that share the tensor, ascending; none if there is none.
std::vector<int> TiedLayers(const Workload& workload);

// Whether the use that one of TiedLayers() makes of the tensor takes a gradient.
bool TrainsTied(const Workload& workload, int layer);

// Returns how many frozen layers share the tensor with a trained one: its gradient is that of the
// trained ones alone, and the frozen ones read what has become of it.
int DetachedLayers(const Workload& workload);

}  // namespace stagecraft
