// Decoder: builds the workload of a decoder-only transformer from its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload.h"

namespace stagecraft {

enum class Activation { kGelu, kRelu, kSilu, kSquaredRelu };
enum class NormKind { kLayer, kRms };

// The architecture of a decoder. Sizes are elements, never padded: parameter
// counts equal the published ones.
struct DecoderConfig {
  std::string family;  // "gpt", "llama", ...: for people; nothing depends on it
  int64_t layers = 0;  // transformer blocks
  int64_t hidden = 0;
  int64_t heads = 0;      // query heads
  int64_t kv_heads = 0;   // 0: as many as heads
  int64_t head_size = 0;  // 0: hidden / heads
  int64_t ffn = 0;        // inner size of the MLP; 0: 4 x hidden
  int64_t vocab = 0;
  int64_t max_sequence = 0;  // tokens; rows of a learned position table
  bool learned_positions = false;
  double rotary_fraction = 0;  // of each head that is rotated, in [0, 1]
  bool gated_mlp = false;      // three MLP matrices in place of two
  Activation activation = Activation::kGelu;
  NormKind norm = NormKind::kLayer;
  bool norm_bias = false;
  bool qkv_bias = false;
  bool projection_bias = false;  // of the attention's output projection
  bool mlp_bias = false;
  bool tied_embeddings = false;
  bool parallel_residual = false;  // attention and MLP side by side (GPT-NeoX)
  bool attention_dropout = false;  // on the softmax output
  bool hidden_dropout = false;     // on embeddings and before residual additions
  friend bool operator==(const DecoderConfig&, const DecoderConfig&) = default;
};

// The switches of a family, all sizes zero: "gpt", "gpt_neox", "opt", "mpt",
// "llama", "internlm", "nemotron". Throws InputError for other names.
DecoderConfig DecoderOfFamily(std::string_view family);

// Replaces the zero kv_heads, head_size and ffn by what they stand for.
DecoderConfig Completed(DecoderConfig config);

// Every problem of a completed configuration as "field: got value, want ...".
std::vector<std::string> FindErrors(const DecoderConfig& config);

// Layers are embedding, `layers` equal blocks, head (final norm, output
// projection, loss). Completes the configuration; throws InputError, its text
// starting with `name`, where FindErrors finds something.
//
// What is kept for the backward pass follows Korthikanti et al., "Reducing
// activation recomputation in large transformer models", 2022, section 4: an
// unfused 16-bit GPT block keeps 34·hidden + 5·heads·keys bytes per token. A
// ReLU keeps nothing of its own, because its gradient needs only its output,
// which the next matrix product keeps; a gated activation is one fused kernel.
Workload BuildDecoder(const DecoderConfig& config, AttentionBackend attention, std::string name);

// The vocabulary Megatron allocates: rounded up to `multiple` rows per rank. All
// arguments > 0.
int64_t PaddedVocabulary(int64_t vocab, int tensor_parallel, int multiple = 128);

}  // namespace stagecraft
