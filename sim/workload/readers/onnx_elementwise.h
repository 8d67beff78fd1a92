// ONNX operators that work element by element, and reductions.
#pragma once

#include <optional>
#include <string_view>

namespace stagecraft {

// What the backward needs of an operator, as PyTorch keeps it.
enum class Keeps { kNothing, kInputs, kOutput };

struct ElementwiseRule {
  Keeps keeps = Keeps::kNothing;
  bool has_backward = true;  // a kernel of its own
};

// No value if `op_type` is no such operator.
std::optional<ElementwiseRule> FindElementwise(std::string_view op_type);

}  // namespace stagecraft
