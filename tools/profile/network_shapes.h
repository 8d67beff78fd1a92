// The networks of the catalogue whose kernels a profile measures.
#pragma once

#include <vector>

#include "runtime/profile/network_shape.h"
#include "runtime/profile/profile_suite.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Each linear layer and each attention once.
NetworkShape ShapeOf(const Workload& workload);

// `on_host`: ones that a processor runs in reasonable time.
std::vector<NetworkShape> ProfiledNetworks(SuiteSize size, bool on_host);

}  // namespace stagecraft
