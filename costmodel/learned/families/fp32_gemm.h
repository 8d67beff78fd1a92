// GEMMs on fp32 units: single ones and batches.
//
//   time = smooth_max(compute, memory)
//   compute  best of a few output tiles and splits of k (gemm_tiles.h), at the
//            datasheet's peak; trees learn how much of it a GPU type reaches
//   memory   every operand once, over a fraction of the bandwidth
//
// There is no start time: it is contained in the overhead that is subtracted from the samples,
// which are calls one at a time.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& Fp32LinearFamily();  // "fp32_linear": batch 1
const KernelFamily& Fp32BmmFamily();     // "fp32_bmm": batch > 1

}  // namespace stagecraft
