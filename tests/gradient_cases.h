// Plans that execute a small network for real: every synchronous order, replicas too.
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

// What an order takes, on so many ranks with so many replicas; pipelines of one stage too.
std::vector<GradientCase> GradientCases(int ranks);

// Of kGradientLayers blocks, embedding and head besides, that share no parameters.
inline constexpr int kGradientLayers = 14;
Workload GradientWorkload();

// What another order of summing in 32 bits may make of gradients.
inline constexpr double kMostGradientError = 1e-5;

}  // namespace stagecraft
