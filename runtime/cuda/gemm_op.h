// Matrix products by cuBLASLt.
#pragma once

#include <memory>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuBLASLt, its handle and workspace: one for a device.
class CublasLt;
std::shared_ptr<CublasLt> LoadCublasLt();  // throws Unsupported
std::string VersionOf(const CublasLt& library);

// The algorithm is the first that the library's heuristic names. Throws
// Unsupported where it names none.
std::unique_ptr<DeviceOp> MakeGemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library);

}  // namespace stagecraft
