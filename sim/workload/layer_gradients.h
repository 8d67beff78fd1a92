// Which gradients the backward of a layer computes, if some layers of a network are frozen: frozen
// parameters are not trained, and a backward ends at the first layer that has trained ones.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// The gradients that the backward of one operator computes.
struct OperatorGradients {
  bool of_input = true;    // because what it reads depends on trained parameters
  bool of_weights = true;  // because its own parameters, if it has any, are trained
  bool Any() const { return of_input || of_weights; }
};

// Returns them by vertex. In a network without frozen layers every operator computes both, even if
// nothing reads the gradient of the network's input.
std::vector<OperatorGradients> GradientsOf(const LayerKind& layer);

// Return the FLOPs of an operator per token of the plan's sequence, as Workload::ForwardFlops()
// counts them: of its forward, and of forward and backward. A GEMM takes as many for each of its
// gradients as for its output, attention twice as many in its backward as in its forward.
double ForwardFlopsPerToken(const Operator& op, int64_t sequence);
double TrainingFlopsPerToken(const Operator& op, const OperatorGradients& gradients,
                             int64_t sequence);

}  // namespace stagecraft
