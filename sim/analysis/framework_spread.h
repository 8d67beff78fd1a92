// What a training framework adds to the spread of a predicted step, beyond that of single kernels.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "sim/engine/bound_costs.h"

namespace stagecraft {

// Sigma of the logarithm of the time that the host needs to launch kernels: an assumption.
inline constexpr double kHostSpread = 0.1;

// Whether a framework trains on the device of a rank, as opposed to a recorded graph of kernels
// with pauses or to a host: its spread then counts.
bool RunsInFramework(const BoundCosts& costs, int32_t rank);

// Sigma of the logarithm of what a framework makes of ops of a kind, beyond the spread of the time
// of one such kernel: which kernels it launches for it, and how it places tensors in memory. These
// are assumptions, made so that four of five measured steps lie within the 80 % interval
// (docs/cost-model.md).
double FrameworkSpread(OpKind kind);

}  // namespace stagecraft
