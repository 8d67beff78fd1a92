// The families of kernels that we know.
#pragma once

#include <span>

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

// Every computing op is covered by one at most.
std::span<const KernelFamily* const> KernelFamilies();
// nullptr for collectives, profiled ops, kNone and what the analytical model
// costs better: convolutions and attention in 32 bits.
const KernelFamily* FamilyOf(const Op& op);

}  // namespace stagecraft
