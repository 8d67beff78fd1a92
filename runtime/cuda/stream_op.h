// Elementwise kernels, optimizers, gathers and copies.
#pragma once

#include <memory>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// Makes an op of StreamKernels() that has no rows. Throws Unsupported for others.
std::unique_ptr<DeviceOp> MakeStreamOp(const ProfileCase& one);

// Makes a copy between device memory and host memory that the driver has pinned.
std::unique_ptr<DeviceOp> MakeHostCopy(const ProfileCase& one);

}  // namespace stagecraft
