// KernelNames: what the names of kernels, of collectives and of marked ranges tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "costmodel/device.h"
#include "sim/schedule/kernel_profile.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

// Returns what a kernel does: of cuBLAS, CUTLASS, cuDNN, FlashAttention, PyTorch, Triton, Apex,
// NCCL and rocBLAS. kOther if the name tells nothing.
KernelClass ClassOfKernel(std::string_view name);

// Returns the kind of a collective by the name that PyTorch gives it: "allreduce",
// "_allgather_base". No value for barriers and unknown names.
std::optional<KernelClass> ClassOfCollective(std::string_view name);

// Returns the number format and its bytes by PyTorch's name: "BFloat16", "c10::BFloat16", "float".
struct NamedType {
  std::optional<DType> dtype;  // no value: integers, or 64 bits
  int bytes = 0;               // 0: the name is not known
};
NamedType TypeOf(std::string_view name);

// Returns the number format of the operands of a kernel of matrix products or of attention: cuBLAS,
// CUTLASS, FlashAttention. No value if the name does not tell it.
std::optional<DType> FormatOfKernel(std::string_view name);

// Returns what the name of a marked range or of an operator says about all that runs in it:
// "layers.12", "forward-compute", "backward micro-batch 3", "ProfilerStep#5",
// "Optimizer.step#AdamW".
KernelPlace PlaceByName(std::string_view name);

// Whether the operator is one of PyTorch's autograd, which runs backwards.
bool IsAutograd(std::string_view name);

}  // namespace stagecraft
