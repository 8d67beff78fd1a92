// Kernels that do little but move bytes: elementwise and optimizer ops, norms and softmax.
//
//   time    = kernels x start + bytes x passes/2 / (fraction x bandwidth)
//   passes  2 of a stream: once in, once out, which is what `bytes` counts.
//           A norm reads its rows again, a wide softmax twice again, when those
//           in flight exceed L2:
//     2 + more x clamp(ln(u / 0.5) / ln 3, 0, 1),   u = rows in flight / L2
//
// The fraction of the bandwidth has two values, seen on five GPU types: Kepler, Pascal and Turing
// reach less than the rest.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& StreamFamily();   // "stream": kElementwise, kOptimizer
const KernelFamily& NormFamily();     // "norm": kNorm
const KernelFamily& SoftmaxFamily();  // "softmax": kSoftmax

}  // namespace stagecraft
