// Fused attention, forward and backward, by cuDNN.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuDNN, with the plans that it has compiled: one for all ranks of a process, whose ops have the
// same plan where they are the same, for as many multiprocessors and in streams of one handle.
class AttentionLibrary;
std::shared_ptr<AttentionLibrary> LoadAttentionLibrary();  // throws Unsupported
std::string VersionOf(const AttentionLibrary& library);

// The part of a board that it is for: so many multiprocessors, and any stream of theirs.
struct AttentionOptions {
  int multiprocessors = 0;  // 0: all
  cudaStream_t stream = nullptr;
};

// The engine is the first of the library's heuristic that supports the graph. Throws
// AttentionUnsupported where there is none.
std::unique_ptr<DeviceOp> MakeAttentionOp(const ProfileCase& one,
                                          std::shared_ptr<AttentionLibrary> library,
                                          const AttentionOptions& options = {});

}  // namespace stagecraft
