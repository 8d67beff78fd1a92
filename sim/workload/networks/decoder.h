// Decoder: builds the workload of a decoder-only transformer from its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/networks/decoder_parts.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// kTanhGelu: the formula with a cube and a tanh, which the code of the network spells out
// (NewGELUActivation of Transformers).
enum class Activation { kGelu, kTanhGelu, kRelu, kSilu, kSquaredRelu };
enum class NormKind { kLayer, kRms };
// Norms before attention and MLP, after their sums, after each of them before its sum (OLMo-2), or
// both before and after each of them (Gemma-2).
enum class NormPlace { kBefore, kAfter, kBranchEnd, kBothEnds };
// The weights of norms of queries and keys: one per feature of a head (Qwen3), one per feature of
// all heads (OLMo-2), or none (Llama-4).
enum class QueryKeyWeights { kHead, kAllHeads, kNone };

// The architecture of a decoder. Sizes are in elements and never padded: parameter counts equal the
// published ones.
struct DecoderConfig {
  std::string family;  // for people; nothing depends on it
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
  NormPlace norm_place = NormPlace::kBefore;
  bool shared_norm = false;  // one norm feeds both parallel branches (Phi-2)
  bool final_norm = true;    // before the output projection
  bool qk_norm = false;      // queries and keys are normalised
  QueryKeyWeights qk_weights = QueryKeyWeights::kHead;
  bool attention_sinks = false;    // each head has a learned score that no key has (gpt-oss)
  bool gated_attention = false;    // sigmoids of a projection weigh its output (Qwen3-Next)
  bool capped_logits = false;      // by a tanh (Gemma-2); that of scores is part of their kernel
  bool head_bias = false;          // of the output projection
  bool embedding_norm = false;     // the embedding is normalised (BLOOM)
  bool scaled_embeddings = false;  // multiplied by a constant (Gemma)
  int64_t embedding_size = 0;      // of the vocabulary's tables; 0: hidden (OPT-350M: less)
  int64_t position_offset = 0;     // rows of the position table that no token uses
  bool causal = true;              // false: every token sees all others
  MoeConfig moe;
  MlaConfig mla;
  WindowConfig window;
  IndexerConfig indexer;
  SsmConfig ssm;
  DeltaConfig delta;
  // What mixes tokens in each block, and which blocks have no MLP; those beyond the last block have
  // no effect. Empty: attention in all, and all have one.
  std::vector<Mixer> mixers = {};
  std::vector<bool> lacks_mlp = {};
  int64_t prediction_layers = 0;          // blocks that predict further tokens (DeepSeek-V3's MTP)
  BlockParts Block(int64_t layer) const;  // counted from 0
  friend bool operator==(const DecoderConfig&, const DecoderConfig&) = default;
};

// Returns the switches of a family, with all sizes zero: "gpt", "gpt_neox", "gptj", "opt", "mpt",
// "bloom", "falcon", "phi", "llama", "internlm", "nemotron", "mistral", "phi3", "qwen2", "qwen3",
// "gemma", "gemma2", "gemma3", "mixtral", "qwen2_moe", "qwen3_moe", "qwen3_next", "deepseek_v2",
// "deepseek_v3", "llama4", "gpt_oss", "glm4_moe", "olmo2", "mamba2", "nemotron_h", "dbrx", "grok".
// Throws InputError for other names.
DecoderConfig DecoderOfFamily(std::string_view family);

// Replaces zeros in kv_heads, head_size, ffn, embedding_size and moe.ffn by what they stand for.
// With latent attention head_size becomes the mean of the sizes of a query and a value, rounded up:
// scores use the one and contexts the other, so that 4·heads·head_size·keys is the sum of both
// GEMMs.
DecoderConfig Completed(DecoderConfig config);

// Returns every problem of a completed configuration as "field: got value, want ...".
std::vector<std::string> FindErrors(const DecoderConfig& config);

// Builds a workload whose layers are embedding, `layers` blocks (equal but for the parts that
// Block() names), prediction_layers further ones, and head (final norm, output projection, loss).
// Completes the configuration; throws an InputError whose text starts with `name` if FindErrors()
// finds something. Positions that only shift scores (ALiBi) cost nothing.
//
// Windows are those of attention_window.h. Recurrences are operators of kind kAttention whose heads
// attend to a fixed number of rows, namely those of a chunk and of the state
// (decoder_recurrent.cc).
//
// What is kept for the backward pass follows Korthikanti et al., "Reducing activation recomputation
// in large transformer models", 2022, section 4: an unfused 16-bit GPT block keeps 34·hidden +
// 5·heads·keys bytes per token. A ReLU keeps nothing of its own, because its gradient needs only
// its output, which the next GEMM keeps; a gated activation is one fused kernel.
Workload BuildDecoder(const DecoderConfig& config, AttentionBackend attention, std::string name);

// Returns the vocabulary that Megatron-LM allocates: rounded up to `multiple` rows for each rank.
// All arguments must be > 0.
int64_t PaddedVocabulary(int64_t vocab, int tensor_parallel, int multiple = 128);

}  // namespace stagecraft
