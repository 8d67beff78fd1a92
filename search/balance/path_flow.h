// PathFlow: what diffusion between stages of equal speed comes to, without its rounds.
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

struct PathFlow {
  int64_t rounds = 0;  // The rounds until it has settled, as DiffusionActor::flow_rounds().
  // What has flowed to the right over each boundary when all actors know that.
  std::vector<double> flows;
};

// Returns what the phase kFlow of actors with these loads (at least two) and equal speeds comes to.
// The matrix of a round, I - L / 3 for the Laplacian L of the path, has the discrete cosines as
// eigenvectors and 1 - 2/3 (1 - cos(pi k / N)) as eigenvalues; so loads and flows after any number
// of rounds are sums of cosines and sines. They are equal to what actors find but for rounding.
// Takes O(N^2), where the actors take up to some N^3 log N steps.
PathFlow FlowOnPath(const std::vector<double>& loads);

}  // namespace stagecraft
