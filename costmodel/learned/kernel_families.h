// The families of kernels that are known.
#pragma once

#include <cstddef>
#include <span>

#include "costmodel/device.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/op.h"

namespace stagecraft {

// Every computing op is covered by at most one of those for GPUs, and by at most one of those for
// hosts.
std::span<const KernelFamily* const> KernelFamilies();
// nullptr for collectives, profiled ops, kNone and what the analytical model prices better:
// convolutions and attention in 32 bits on GPUs.
const KernelFamily* FamilyOf(const Op& op, const Device& device);
// The index of a family in KernelFamilies(), of which it must be one.
size_t IndexOf(const KernelFamily& family);

}  // namespace stagecraft
