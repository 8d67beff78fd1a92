// NetworkShape: the GEMMs and attentions of a network, as far as their kernels depend on the
// network.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace stagecraft {

// Which side of a linear layer tensor parallelism divides.
enum class Divided { kNothing, kOutputs, kInputs };

struct LinearShape {
  int64_t inputs = 0;
  int64_t outputs = 0;
  Divided divided = Divided::kNothing;
  friend auto operator<=>(const LinearShape&, const LinearShape&) = default;
};

struct AttentionShape {
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  bool causal = false;
  friend auto operator<=>(const AttentionShape&, const AttentionShape&) = default;
};

struct NetworkShape {
  std::vector<LinearShape> linears;
  std::vector<AttentionShape> attentions;
};

}  // namespace stagecraft
