// Matrix products by cuBLASLt.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuBLASLt, its handle and workspace: one for a device.
class CublasLt;
std::shared_ptr<CublasLt> LoadCublasLt();  // throws Unsupported
std::string VersionOf(const CublasLt& library);

struct GemmOptions {
  int multiprocessors = 0;  // that kernels are chosen for; 0: all of the device
  // Where the next result goes, so many bytes; empty: behind its operands.
  std::function<std::byte*(size_t bytes)> results = {};
};

// The algorithm is the first that the library's heuristic names. Throws
// Unsupported where it names none.
std::unique_ptr<DeviceOp> MakeGemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library,
                                     const GemmOptions& options = {});

// Bytes of a product's result.
size_t ResultBytes(const Op& product);

}  // namespace stagecraft
