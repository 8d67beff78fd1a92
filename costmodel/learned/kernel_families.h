// The families of kernels that we know.
#pragma once

#include <cstddef>
#include <span>

#include "costmodel/device.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/op.h"

namespace stagecraft {

// Every computing op is covered by one at most of those for GPUs, and of those for hosts.
std::span<const KernelFamily* const> KernelFamilies();
// nullptr for collectives, profiled ops, kNone and what the analytical model
// costs better: convolutions and attention in 32 bits on GPUs.
const KernelFamily* FamilyOf(const Op& op, const Device& device);
// Among KernelFamilies(), of which it is one.
size_t IndexOf(const KernelFamily& family);

}  // namespace stagecraft
