// GEMMs by cuBLASLt.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuBLASLt, its handle and workspace: one object for each device.
class CublasLt;
std::shared_ptr<CublasLt> LoadCublasLt();  // throws Unsupported
std::string VersionOf(const CublasLt& library);

struct GemmOptions {
  int multiprocessors = 0;  // for which kernels are chosen; 0: all of the device
  // Where the next result of `bytes` goes; empty: behind its operands.
  std::function<std::byte*(size_t bytes)> results = {};
};

// The algorithm is the first that the library's heuristic names. Throws Unsupported if it names
// none.
std::unique_ptr<DeviceOp> MakeGemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library,
                                     const GemmOptions& options = {});

// The bytes of a GEMM's result.
size_t ResultBytes(const Op& product);

}  // namespace stagecraft
