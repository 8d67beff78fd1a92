// AttentionVersion: the versions of FlashAttention, and how fast an older one is on a GPU for whose
// generation a newer one was written.
#pragma once

#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// How often the arithmetic of an attention op takes the time that it would take in the version
// written for the GPU's generation; at least 1. A forward of FlashAttention-2 reaches 1.5 times
// (the middle of 50 to 73 % over that of 30 to 50 % of an A100's peak) what version 1 does, a
// backward 1.8 times (63 over 35 %, the best ones; Dao, FlashAttention-2, 2023, section 1); on
// Hopper version 3 is 1.5 to 2.0 and 1.5 to 1.75 times as fast as version 2 (Shah et al.,
// FlashAttention-3, 2024, abstract and section 4.1).
double VersionSlowness(const Op& op, const Device& device);

// Whether GPUs of a generation run the kernel of a plan at all: version 1 needs Turing or later,
// version 2 and cuDNN's fused attention Ampere or later, version 3 Hopper, all of them NVIDIA's.
// AMD's libraries have version 2 as well.
bool RunsOn(AttentionKernel kernel, Generation generation);

}  // namespace stagecraft
