// Fused attention, forward and backward, by cuDNN.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// cuDNN, with the plans that it has compiled. One object serves all ranks of a process on one
// device. Equal ops share a plan if they are for the same number of multiprocessors and their
// streams have a cuDNN handle in common (CudnnStream). A plan lives as long as any op that uses it,
// and each op keeps cuDNN loaded and its handles alive. One thread must make and launch all of
// these ops.
class AttentionLibrary;
std::shared_ptr<AttentionLibrary> LoadAttentionLibrary();  // throws Unsupported
std::string VersionOf(const AttentionLibrary& library);

// The part of a GPU for which an op is made.
struct AttentionOptions {
  int multiprocessors = 0;        // 0: all of the GPU
  cudaStream_t stream = nullptr;  // any stream of the part; nullptr: the part is the whole GPU
};

// Makes an op that runs on the first engine that the library's heuristic names and that supports
// its graph. Throws AttentionUnsupported if there is none.
std::unique_ptr<DeviceOp> MakeAttentionOp(const ProfileCase& one,
                                          std::shared_ptr<AttentionLibrary> library,
                                          const AttentionOptions& options = {});

}  // namespace stagecraft
