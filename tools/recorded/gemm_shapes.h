// GemmShapes: the sizes of matrix products, as PyTorch records the inputs of operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// Returns the product that an operator such as aten::addmm computes from inputs of these sizes and
// types ("c10::BFloat16"). No value for other operators, and for sizes that do not fit together.
std::optional<Op> GemmOfOperator(std::string_view name, std::span<const std::vector<int64_t>> dims,
                                 std::span<const std::string> types);

// The same where only the sizes were recorded.
std::optional<Op> GemmOfSizes(std::string_view name, std::span<const std::vector<int64_t>> dims,
                              DType dtype);

}  // namespace stagecraft
