// Parts that some decoders have in place of the plain ones: mixtures of experts for the MLP, latent
// attention for the attention. Zero sizes mean "none".
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

// A router sends each row through `experts_per_token` of `experts` equal MLPs, which are gated or
// not as the dense MLP is, and have no biases.
struct MoeConfig {
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  int64_t ffn = 0;            // inner size of one expert; 0: as in the dense MLP
  int64_t shared_ffn = 0;     // inner size of an MLP through which every row goes as well
  bool shared_gate = false;   // that MLP's output is weighed by a gate (Qwen2-MoE)
  bool routing_bias = false;  // one number per expert balances the load (DeepSeek-V3)
  // Transformer blocks that keep the dense MLP, counted from 0, ascending; numbers beyond the last
  // block have no effect.
  std::vector<int64_t> dense_layers = {};
  // Experts form `groups` equal groups, of which a row may use `groups_per_token` (node-limited
  // routing: DeepSeek-V3, 2024, section 2.1.2).
  int64_t groups = 1;
  int64_t groups_per_token = 1;
  bool IsSparse(int64_t layer) const;
  friend bool operator==(const MoeConfig&, const MoeConfig&) = default;
};

// Multi-head latent attention (DeepSeek-V2, 2024, section 2.1): queries, keys
// and values are projected down to a small vector, normalised, and up again.
struct MlaConfig {
  int64_t query_rank = 0;   // 0: queries straight from the hidden vector
  int64_t kv_rank = 0;      // 0: no latent attention
  int64_t plain_size = 0;   // part of a head of queries and keys that is not rotated
  int64_t rotary_size = 0;  // part that is; all heads share that of the keys
  int64_t value_size = 0;   // size of a head of values
  int64_t QuerySize() const { return plain_size + rotary_size; }
  friend bool operator==(const MlaConfig&, const MlaConfig&) = default;
};

}  // namespace stagecraft
