#include "tools/validation/step_constants.h"

#include <cmath>

namespace stagecraft {

std::span<const StepConstant> AllStepConstants() {
  static const std::vector<StepConstant> all = {
      {"host-dispatch-us",
       "time of the host per kernel, in microseconds",
       &StepConstants::host_dispatch_us,
       {25, 40, 50, 60, 75, 90, 110, 150}},
      {"eager-traffic",
       "bytes between GEMMs in eager frameworks, over those of fused kernels",
       &StepConstants::eager_traffic,
       {1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3}},
      {"convolution-share",
       "rate of convolutions on tensor cores, over that of GEMMs",
       &StepConstants::convolution_share,
       {0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1}},
  };
  return all;
}

Framework WithConstants(Framework framework, const StepConstants& constants) {
  if (framework.elementwise_traffic == kEagerTraffic) {
    framework.elementwise_traffic = constants.eager_traffic;
  }
  return framework;
}

Cluster WithConstants(const Cluster& cluster, const StepConstants& constants) {
  if (constants == StepConstants()) return cluster;
  return cluster.WithDevices([&](Device& device) {
    if (device.generation == Generation::kHost) return;
    if (!device.host_dispatch) {
      device.host_dispatch = Duration::Nanoseconds(std::llround(1e3 * constants.host_dispatch_us));
    }
    if (device.convolution_share == kUsualConvolutionShare) {
      device.convolution_share = constants.convolution_share;
    }
  });
}

}  // namespace stagecraft
