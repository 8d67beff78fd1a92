// Norms and softmax: a thread block for each row.
#pragma once

#include <memory>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// For ops of StreamKernels() that have rows. Throws Unsupported for others, and for rows that are
// no multiple of eight 16-bit numbers.
std::unique_ptr<DeviceOp> MakeRowOp(const ProfileCase& one);

}  // namespace stagecraft
