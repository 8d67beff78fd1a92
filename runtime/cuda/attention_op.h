// Fused attention, forward and backward, by cuDNN.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuDNN and its handle: one for a device.
class Cudnn;
std::shared_ptr<Cudnn> LoadCudnn();  // throws Unsupported
std::string VersionOf(const Cudnn& library);

// The part of a board that it is for: so many multiprocessors, and any stream of theirs.
struct AttentionOptions {
  int multiprocessors = 0;  // 0: all
  cudaStream_t stream = nullptr;
};

// The engine is the first of the library's heuristic that supports the graph.
// Throws Unsupported where there is none.
std::unique_ptr<DeviceOp> MakeAttentionOp(const ProfileCase& one, std::shared_ptr<Cudnn> library,
                                          const AttentionOptions& options = {});

}  // namespace stagecraft
