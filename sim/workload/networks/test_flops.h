// What tests of networks count.
#pragma once

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the FLOPs of the forward pass of one sample, of a network whose samples are one token.
inline double ForwardFlops(const Workload& network) {
  double flops = 0;
  for (int layer = 0; layer < network.layer_count(); ++layer) {
    flops += network.ForwardFlops(layer, 1).count();
  }
  return flops;
}

}  // namespace stagecraft
