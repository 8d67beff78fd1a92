// GradientCase: a plan by which a small network is really computed. The cases have every
// synchronous pipeline schedule, with and without replicas.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {

struct GradientCase {
  std::string name;
  PlanDegrees degrees;
};

// Returns the cases that fill this many ranks: every schedule with every number of replicas and
// with two numbers of chunks, as far as it allows them, and with unequal replicas. Pipelines of one
// stage are among them.
std::vector<GradientCase> GradientCases(int ranks);

// A network of kGradientLayers blocks, an embedding and a head, which share no parameters.
inline constexpr int kGradientLayers = 14;
Workload GradientWorkload();

// By how much gradients may differ if they are summed in another order in 32 bits.
inline constexpr double kMostGradientError = 1e-5;

}  // namespace stagecraft
