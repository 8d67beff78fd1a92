// The ranges of the numbers that a cost model has for a GPU type.
#pragma once

#include <string>

#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/known_gpus.h"

namespace stagecraft {

// The range of KnownGpu::widening.
inline constexpr double kLeastWidening = 0.5;
inline constexpr double kMostWidening = 4;

// Throws an InputError that opens with `place` if a constant is more than a thousand times, or less
// than a thousandth of, what its family starts a fit from, if the offset is more than that factor,
// if a share is not from 0 to 1, or if the widening is out of range: "model.pb:
// families[0].boards[2].constants[4]: got 1e+21, want from 0.01 to 10000 (edge of tensor_gemm)".
// Precondition: there are as many constants as the family has.
void CheckKnownGpu(const KnownGpu& gpu, const KernelFamily& family, const std::string& place);

}  // namespace stagecraft
