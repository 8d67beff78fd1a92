// PathFlow: what diffusion between the stages of a path comes to, without most of its rounds.
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

struct PathFlow {
  int64_t rounds = 0;       // until it has settled, as DiffusionActor::flow_rounds()
  bool has_settled = true;  // within DiffusionActor::kMostFlowRounds
  // What has flowed to the right over each boundary when all actors know that it has settled.
  std::vector<double> flows;
};

// Returns what the phase kFlow of actors with these loads and speeds (at least two) comes to; equal
// but for rounding to what they find. The first rounds are simulated as they are. By then loads
// differ from their averages by a few slow modes, which fall by a factor of their own each round:
// the eigenvectors of a symmetric tridiagonal matrix with the largest eigenvalues. As many of them
// are found as matter. Takes some dozen N for each of about four modes, and about two N rounds of
// N, where actors take up to some N^3 log N steps.
PathFlow FlowOnPath(const std::vector<double>& loads, const std::vector<double>& speeds);

}  // namespace stagecraft
