// The list of all families of kernels.
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
// Returns the family that covers the op on the device. It is nullptr for collectives, profiled ops,
// kNone and the ops that the analytical model prices better: convolutions and attention in 32 bits
// on GPUs.
const KernelFamily* FamilyOf(const Op& op, const Device& device);
// Returns the index of a family in KernelFamilies(), which must contain it.
size_t IndexOf(const KernelFamily& family);

}  // namespace stagecraft
