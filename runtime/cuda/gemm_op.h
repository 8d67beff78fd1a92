// GEMMs that cuBLASLt runs.
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
  int multiprocessors = 0;  // the number for which kernels are chosen; 0: all of the device
  // Returns where the next result of `bytes` bytes goes. Without a function it goes behind its
  // operands.
  std::function<std::byte*(size_t bytes)> results = {};
};

// Makes a GEMM with the first algorithm that the library's heuristic names. Throws Unsupported if
// it names none.
std::unique_ptr<DeviceOp> MakeGemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library,
                                     const GemmOptions& options = {});

// Returns the size of a GEMM's result in bytes.
size_t ResultBytes(const Op& product);

}  // namespace stagecraft
