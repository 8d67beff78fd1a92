// SmallNetworks(): what fuzz targets apply their inputs to if these are about a given network.
#pragma once

#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft::fuzz {

// Returns a decoder with fused attention and a mixture of experts with unfused attention, of eight
// blocks each.
const std::vector<Workload>& SmallNetworks();

}  // namespace stagecraft::fuzz
