// Matrix products on fp32 units: one alone, and batches.
//
//   time = smooth_max(compute, memory)
//   compute  best of a few output tiles and splits of k (gemm_tiles.h), at the
//            datasheet's peak; trees learn what a board reaches of it
//   memory   every operand once, over a fraction of the bandwidth
//
// No start: what is taken off the samples, calls one at a time, contains it.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& Fp32LinearFamily();  // "fp32_linear": batch 1
const KernelFamily& Fp32BmmFamily();     // "fp32_bmm": batch > 1

}  // namespace stagecraft
