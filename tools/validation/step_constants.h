// StepConstants: the constants of a training step that no profile of kernels or collectives gives.
// They are fitted on measured steps (step_fit.h).
#pragma once

#include <span>
#include <vector>

#include "costmodel/device.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/framework.h"

namespace stagecraft {

struct StepConstants {
  double host_dispatch_us = 75;  // KernelConstants::host_dispatch
  double eager_traffic = kEagerTraffic;
  double convolution_share = kUsualConvolutionShare;
  friend bool operator==(const StepConstants&, const StepConstants&) = default;
};

struct StepConstant {
  const char* name;     // "host-dispatch-us"
  const char* meaning;  // for people
  double StepConstants::*value;
  std::vector<double> candidates;  // in ascending order, among them the one that is in use
};
std::span<const StepConstant> AllStepConstants();

// Replaces what an eager framework moves between GEMMs; frameworks that state it keep theirs.
Framework WithConstants(Framework framework, const StepConstants& constants);

// Returns the cluster with these constants on all GPUs whose own value is the usual one.
Cluster WithConstants(const Cluster& cluster, const StepConstants& constants);

}  // namespace stagecraft
