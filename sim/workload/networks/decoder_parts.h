// Parts that some decoders have in place of the plain ones: mixtures of experts for the MLP, and
// for attention over all keys latent attention, windows, selected keys and recurrences. Zero sizes
// mean "none".
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace stagecraft {

// A router sends each row through `experts_per_token` of `experts` equal MLPs, which are gated or
// not as the dense MLP is. Whether it weighs them by a softmax or by sigmoids costs the same.
struct MoeConfig {
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  int64_t ffn = 0;            // inner size of one expert; 0: as in the dense MLP
  int64_t shared_ffn = 0;     // inner size of an MLP through which every row goes as well
  bool shared_gate = false;   // that MLP's output is weighed by a gate (Qwen2-MoE)
  bool routing_bias = false;  // one number per expert balances the load (DeepSeek-V3)
  bool biases = false;        // of the router's and of the experts' matrices (gpt-oss)
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

// The most keys that a query sees in blocks of Mixer::kWindow: the last ones, its own among them,
// or those of its chunk of the sequence.
struct WindowConfig {
  int64_t keys = 0;
  bool is_chunked = false;  // Llama-4
  // Blocks without a window do not rotate queries and keys (Llama-4).
  bool rotates_windows_only = false;
  friend bool operator==(const WindowConfig&, const WindowConfig&) = default;
};

// Sparse attention (DeepSeek-V3.2, 2025, section 2.1): small heads, which share one key, score all
// keys before a query; attention reads the `keys` best of them alone. Needs latent attention with
// queries that are projected down.
struct IndexerConfig {
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t keys = 0;
  friend bool operator==(const IndexerConfig&, const IndexerConfig&) = default;
};

// A state space model of the second kind (Dao and Gu, "Transformers are SSMs", 2024, section 7): a
// projection to gates, inputs, keys and queries (B and C) and time steps, a short causal
// convolution, the recurrence, a gated norm, and a projection back. Each head has a state of
// `state` x `head_size`; keys and queries are shared by the heads of a group.
struct SsmConfig {
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t state = 0;
  int64_t groups = 1;
  int64_t convolution = 4;  // tokens of a window
  bool convolution_bias = true;
  int64_t chunk = 256;  // tokens of a block of the algorithm
  int64_t Inner() const { return heads * head_size; }
  friend bool operator==(const SsmConfig&, const SsmConfig&) = default;
};

// The gated delta rule (Yang, Kautz and Hatamizadeh, "Gated Delta Networks", 2024, section 3):
// parts as of a state space model, but each value head corrects its state of key_size x value_size
// by the error of what it recalls.
struct DeltaConfig {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_size = 0;
  int64_t value_size = 0;
  int64_t convolution = 4;
  int64_t chunk = 64;
  int64_t Keys() const { return key_heads * key_size; }
  int64_t Values() const { return value_heads * value_size; }
  friend bool operator==(const DeltaConfig&, const DeltaConfig&) = default;
};

// What mixes the tokens of a block.
enum class Mixer {
  kAttention,  // over all keys, or as MlaConfig and IndexerConfig say
  kWindow,     // attention as WindowConfig says
  kSsm,
  kDelta,
  kNone,  // nothing: the block is an MLP
};

enum class Mlp { kDense, kSparse, kNone };

// One of the blocks of a decoder whose blocks are not alike.
struct BlockParts {
  Mixer mixer = Mixer::kAttention;
  Mlp mlp = Mlp::kDense;
  friend auto operator<=>(const BlockParts&, const BlockParts&) = default;
};

}  // namespace stagecraft
