// ONNX operators that work element by element, and reductions.
#pragma once

#include <optional>
#include <string_view>

namespace stagecraft {

// What the backward of an operator needs, as PyTorch keeps it.
enum class Keeps { kNothing, kInputs, kOutput };

struct ElementwiseRule {
  Keeps keeps = Keeps::kNothing;
  bool has_backward = true;  // as a kernel of its own
};

// Returns no value if `op_type` is no such operator.
std::optional<ElementwiseRule> FindElementwise(std::string_view op_type);

}  // namespace stagecraft
