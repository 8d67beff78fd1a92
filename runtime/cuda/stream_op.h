// Elementwise kernels, those of optimizers, gathers and copies.
#pragma once

#include <memory>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// For ops of StreamKernels() that have no rows. Throws Unsupported for others.
std::unique_ptr<DeviceOp> MakeStreamOp(const ProfileCase& one);

// Copies between device memory and memory of the host that the driver has pinned.
std::unique_ptr<DeviceOp> MakeHostCopy(const ProfileCase& one);

}  // namespace stagecraft
