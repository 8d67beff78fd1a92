// How tokens spread over the experts of a layer, and how that drifts in the course of training.
#pragma once

#include <vector>

#include "costmodel/random.h"

namespace stagecraft {

// Returns shares of `experts` > 0 experts that sum to 1, drawn from the symmetric Dirichlet
// distribution with concentration alpha > 0: nearly equal if it is large, one expert takes nearly
// all if it is small.
std::vector<double> DrawExpertShares(int experts, double alpha, Random random);

// Returns the shares that are processed if an expert takes at most `capacity` > 0 times the mean
// and drops what exceeds that; they may sum to less than 1.
std::vector<double> WithinCapacity(std::vector<double> shares, double capacity);

}  // namespace stagecraft
