// The networks of the catalogue whose kernels a profile measures.
#pragma once

#include <vector>

#include "runtime/profile/network_shape.h"
#include "runtime/profile/profile_suite.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Lists each linear layer and each attention once.
NetworkShape ShapeOf(const Workload& workload);

// `on_host`: networks that a CPU runs in reasonable time.
std::vector<NetworkShape> ProfiledNetworks(SuiteSize size, bool on_host);

}  // namespace stagecraft
