// NvtxText: what the texts of marked ranges say that PyTorch and NCCL write for Nsight Systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/kernel_profile.h"

namespace stagecraft {

// An operator of PyTorch, as torch.autograd.profiler.emit_nvtx(record_shapes=True) and
// nsys profile --pytorch=autograd-shapes-nvtx name it:
// "aten::mm, seq = 12, op_id = 40, sizes = [[4096, 8192], [8192, 3584]]"
// (torch/csrc/profiler/util.cpp: getNvtxStr).
struct NvtxOperator {
  std::string_view name;                   // "aten::mm", within the text
  int64_t sequence = -1;                   // the same for an operator and its backward; -1: none
  std::vector<std::vector<int64_t>> dims;  // of its inputs; empty if there are none, or not whole
};

// No value for a text without such fields, which is a range that the program marked itself.
std::optional<NvtxOperator> OperatorOfNvtx(std::string_view text);

// A call of NCCL, with the payload of its range (src/include/nvtx_payload_schemas.h of NCCL 2.26):
// {"NCCL communicator ID": 77, "Message size [bytes]": 33554432}.
struct NcclCall {
  std::string communicator;         // the same on all its ranks
  std::optional<KernelClass> kind;  // no value: it makes a communicator
  Bytes message;                    // as NCCL counts it: of what a rank passes to the call
  int group_size = 0;               // of calls that make a communicator
};

// `name` is that of the range, "ncclAllReduce", `payload` its payload as JSON. No value for other
// ranges, and for payloads that lack the communicator, the message or the number of ranks.
std::optional<NcclCall> CallOfNccl(std::string_view name, std::string_view payload);

}  // namespace stagecraft
