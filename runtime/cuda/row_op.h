// Norms and softmax, with one thread block for each row.
#pragma once

#include <memory>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// Makes an op of StreamKernels() that has rows. Throws Unsupported for others, and for rows whose
// width is not a multiple of eight or whose numbers are not bf16.
std::unique_ptr<DeviceOp> MakeRowOp(const ProfileCase& one);

}  // namespace stagecraft
