// ProfileCase: one op to be measured, and the kernel that does it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "costmodel/hash.h"
#include "costmodel/op.h"

namespace stagecraft {

// A value. Ops that only move bytes are done by many kernels, GEMMs in three layouts: `kernel` says
// which, and becomes Sample::name.
struct ProfileCase {
  Op op;
  std::string kernel;
  friend bool operator==(const ProfileCase&, const ProfileCase&) = default;
};

// GEMMs, with operands as a linear layer holds them, row by row: inputs of tokens x in, weights of
// out x in.
inline constexpr std::string_view kLinear = "linear";  // (m,k) by the transpose of (n,k)
inline constexpr std::string_view kLinearInputGradient = "linear_input_gradient";  // (m,k)·(k,n)
// The transpose of (k,m) by (k,n).
inline constexpr std::string_view kLinearWeightGradient = "linear_weight_gradient";
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kMove = "move";  // everything that moves bytes, on a host
inline constexpr std::string_view kHostToDevice = "host_to_device";
inline constexpr std::string_view kDeviceToHost = "device_to_host";

// A kernel that reads and writes this many bytes for each element that it makes; for an op on rows,
// each a multiple of the element's size.
struct StreamKernel {
  std::string_view name;
  OpKind kind;
  int bytes_per_element;
};

// Elementwise kernels, norms, softmax and optimizers that any device measures; numbers have 16 bits
// unless the name says otherwise.
std::span<const StreamKernel> StreamKernels();
// nullptr if there is none.
const StreamKernel* FindStreamKernel(std::string_view name);

}  // namespace stagecraft

template <>
struct std::hash<stagecraft::ProfileCase> {
  size_t operator()(const stagecraft::ProfileCase& one) const {
    return stagecraft::Hash()
        .Add(static_cast<int64_t>(stagecraft::HashOf(one.op)))
        .Add(one.kernel)
        .value();
  }
};
