// NetworkShape: the products and attentions of a network, as far as their kernels
// tell it from others.
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

// What tensor parallelism divides of a linear layer.
enum class Divided { kNothing, kOutputs, kInputs };

struct LinearShape {
  int64_t inputs = 0;
  int64_t outputs = 0;
  Divided divided = Divided::kNothing;
};

struct AttentionShape {
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  bool causal = false;
};

struct NetworkShape {
  int64_t hidden = 0;
  std::vector<LinearShape> linears;
  std::vector<AttentionShape> attentions;
};

}  // namespace stagecraft
