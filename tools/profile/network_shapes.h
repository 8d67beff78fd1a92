// The networks of the catalogue whose kernels a profile measures.
#pragma once

#include <vector>

#include "runtime/profile/network_shape.h"
#include "runtime/profile/profile_suite.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the shapes of all linear layers and attentions of the workload, each shape once.
NetworkShape ShapeOf(const Workload& workload);

// Returns the networks of a suite of this size; with `on_host`, networks that a CPU runs in
// reasonable time.
std::vector<NetworkShape> ProfiledNetworks(SuiteSize size, bool on_host);

}  // namespace stagecraft
