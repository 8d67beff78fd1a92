// Families of the kernels that the CPU of a host runs: HostOps (runtime/host_ops.h), on one thread,
// in 32 bits whatever the format of the op.
//
//   product    start + batch x (2 m n k / (fraction x peak) x (1 + edge (1/m + 1/n + 1/k))
//              + 4 (m k + k n + m n) / bandwidth)
//   attention  start + heads x (as many GEMMs of m n k, with their edges, + m n x element):
//              2 forward, 5 backward, over whole rows even if it is causal
//   move       start + bytes / (fraction x bandwidth)
//   sparse     start + batch x (2 m entries / (fraction x peak) x (1 + edge / m) + bytes /
//   bandwidth),
//              from the entries; gradients have a fraction of their own
//
// Peak and bandwidth are the device's. Edges are the cost of packing a block of operands and of
// unfilled registers. Constants and corrections come from samples; the shipped model has no samples
// of any host.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& HostProductFamily();    // "host_product": kGemm, kConvolution
const KernelFamily& HostAttentionFamily();  // "host_attention": kAttention
const KernelFamily& HostSparseFamily();     // "host_sparse": kSparse, from entries
const KernelFamily& HostMoveFamily();  // "host_move": kElementwise, kOptimizer, kNorm, kSoftmax

}  // namespace stagecraft
