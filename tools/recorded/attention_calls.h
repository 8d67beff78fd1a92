// AttentionCalls: what PyTorch's operators of fused attention, and the names of their kernels, tell
// of a call: sizes, whether it is causal, which kernel it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

// Returns the call of an operator such as aten::_scaled_dot_product_flash_attention or
// flash_attn::_flash_attn_backward. `dims` and `types` are those of its inputs, `values` are the
// inputs that are no tensors, as text ("True", "0."; Kineto's "Concrete Inputs"), and may be fewer.
// No value for other operators, and if the sizes do not fit together or are beyond what readers of
// samples take.
std::optional<RecordedAttention> AttentionOfOperator(std::string_view name,
                                                     std::span<const std::vector<int64_t>> dims,
                                                     std::span<const std::string> types,
                                                     std::span<const std::string> values);

// The same where only the sizes were recorded, and `values` perhaps.
std::optional<RecordedAttention> AttentionOfSizes(std::string_view name,
                                                  std::span<const std::vector<int64_t>> dims,
                                                  DType dtype, std::span<const std::string> values);

// What the arguments of a kernel's template tell; no value where none of them tells it.
struct AttentionName {
  std::optional<bool> is_causal, is_local, has_dropout;
  std::optional<AttentionKernel> kernel;  // which version of FlashAttention
};
// Reads names of FlashAttention 2 and 3, demangled or mangled.
AttentionName AttentionOfKernel(std::string_view name);

}  // namespace stagecraft
