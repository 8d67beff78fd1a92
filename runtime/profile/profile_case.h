// ProfileCase: one op to be measured, and the kernel that runs it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "costmodel/hash.h"
#include "costmodel/op.h"

namespace stagecraft {

// A value. Ops that only move bytes have many kernels, and GEMMs have three layouts: `kernel` says
// which, and becomes Sample::name.
struct ProfileCase {
  Op op;
  std::string kernel;
  friend bool operator==(const ProfileCase&, const ProfileCase&) = default;
};

// Layouts of GEMMs, whose operands a linear layer stores by rows: inputs of tokens x in, weights of
// out x in.
inline constexpr std::string_view kLinear = "linear";  // (m,k) by the transpose of (n,k)
inline constexpr std::string_view kLinearInputGradient = "linear_input_gradient";  // (m,k)·(k,n)
// The transpose of (k,m) by (k,n).
inline constexpr std::string_view kLinearWeightGradient = "linear_weight_gradient";
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kSparse = "sparse";  // on a host: both directions, from entries
inline constexpr std::string_view kMove = "move";      // on a host: everything that moves bytes
inline constexpr std::string_view kHostToDevice = "host_to_device";
inline constexpr std::string_view kDeviceToHost = "device_to_host";

// A kernel that reads and writes this many bytes for each element of its result. For an op on rows,
// each row is a whole number of elements.
struct StreamKernel {
  std::string_view name;
  OpKind kind;
  int bytes_per_element;
};

// Returns the elementwise kernels, norms, softmax and optimizers that are measured on every GPU;
// numbers have 16 bits unless the name says otherwise.
std::span<const StreamKernel> StreamKernels();
// Returns the kernel of this name; nullptr if there is none.
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
