// MegatronNetworkOptions(): a decoder as arguments of Megatron-LM.
#include <fmt/format.h>

#include "costmodel/check.h"
#include "tools/frameworks/megatron_writer.h"

namespace stagecraft {
namespace {

void RefuseIf(bool is_lacking, const char* feature) {
  if (!is_lacking) return;
  throw InputError(fmt::format("Megatron-LM's GPT has no {}, want a network without it", feature));
}

void CheckNetwork(const DecoderConfig& network) {
  RefuseIf(network.parallel_residual, "attention beside the MLP");
  RefuseIf(network.norm_place == NormPlace::kAfter, "norms after the sums");
  RefuseIf(network.shared_norm, "norm that two branches share");
  RefuseIf(!network.final_norm, "head without a norm");
  RefuseIf(network.head_bias, "biases of the output projection");
  RefuseIf(network.embedding_norm, "norm of the embedding");
  RefuseIf(network.scaled_embeddings, "scaled embedding");
  RefuseIf(network.embedding_size != 0 && network.embedding_size != network.hidden,
           "embedding of another size than the hidden one");
  RefuseIf(!network.causal, "attention to later tokens");
  RefuseIf(network.position_offset != 0, "unused rows of the position table");
  RefuseIf(network.activation == Activation::kRelu, "plain ReLU");
  RefuseIf(network.gated_mlp && network.activation != Activation::kSilu,
           "gated MLP with another activation than SiLU");
  RefuseIf(!network.gated_mlp && network.activation == Activation::kSilu,
           "SiLU in an MLP without gates");
  RefuseIf(network.projection_bias != network.mlp_bias,
           "biases of the projection or the MLP alone");
  RefuseIf(network.projection_bias && !network.qkv_bias, "biases but for those of queries");
  RefuseIf(network.norm_bias != (network.norm == NormKind::kLayer), "norms of this kind");
  RefuseIf(network.moe.shared_gate && network.moe.shared_ffn == 0, "gate without a shared expert");
}

void AddExperts(const DecoderConfig& network, OptionList& options) {
  const MoeConfig& moe = network.moe;
  options.emplace_back("num-experts", moe.experts);
  options.emplace_back("moe-router-topk", moe.experts_per_token);
  options.emplace_back("moe-ffn-hidden-size", moe.ffn);
  if (moe.shared_ffn > 0) {
    options.emplace_back("moe-shared-expert-intermediate-size", moe.shared_ffn);
  }
  if (moe.shared_gate) options.emplace_back("moe-shared-expert-gate", true);
  if (moe.routing_bias) options.emplace_back("moe-router-enable-expert-bias", true);
  if (moe.groups > 1) {
    options.emplace_back("moe-router-num-groups", moe.groups);
    options.emplace_back("moe-router-group-topk", moe.groups_per_token);
  }
  if (moe.dense_layers.empty()) return;
  // A list expression of runs: ([0]*3+[1]*58).
  std::string list;
  for (int64_t layer = 0; layer < network.layers;) {
    int64_t end = layer + 1;
    while (end < network.layers && moe.IsSparse(end) == moe.IsSparse(layer)) ++end;
    list +=
        fmt::format("{}[{}]*{}", list.empty() ? "" : "+", moe.IsSparse(layer) ? 1 : 0, end - layer);
    layer = end;
  }
  options.emplace_back("moe-layer-freq", "(" + list + ")");
}

void AddAttention(const DecoderConfig& network, OptionList& options) {
  if (network.mla.kv_rank > 0) {
    options.emplace_back("multi-latent-attention", true);
    if (network.mla.query_rank > 0) options.emplace_back("q-lora-rank", network.mla.query_rank);
    options.emplace_back("kv-lora-rank", network.mla.kv_rank);
    options.emplace_back("qk-head-dim", network.mla.plain_size);
    options.emplace_back("qk-pos-emb-head-dim", network.mla.rotary_size);
    options.emplace_back("v-head-dim", network.mla.value_size);
    return;
  }
  if (network.kv_heads != network.heads) {
    options.emplace_back("group-query-attention", true);
    options.emplace_back("num-query-groups", network.kv_heads);
  }
  options.emplace_back("kv-channels", network.head_size);
  if (network.qk_norm) options.emplace_back("qk-layernorm", true);
}

}  // namespace

OptionList MegatronNetworkOptions(const DecoderConfig& network) {
  CheckNetwork(network);
  OptionList options = {{"num-layers", network.layers},
                        {"hidden-size", network.hidden},
                        {"ffn-hidden-size", network.ffn},
                        {"num-attention-heads", network.heads}};
  AddAttention(network, options);
  options.emplace_back("max-position-embeddings", network.max_sequence);
  const bool is_rotated = network.rotary_fraction > 0 || network.mla.kv_rank > 0;
  options.emplace_back("position-embedding-type", network.learned_positions ? "learned_absolute"
                                                  : is_rotated              ? "rope"
                                                                            : "none");
  if (is_rotated && network.rotary_fraction > 0 && network.rotary_fraction < 1) {
    options.emplace_back("rotary-percent", network.rotary_fraction);
  }
  options.emplace_back("normalization", network.norm == NormKind::kRms ? "RMSNorm" : "LayerNorm");
  if (network.gated_mlp) options.emplace_back("swiglu", true);
  if (network.activation == Activation::kSquaredRelu) options.emplace_back("squared-relu", true);
  if (!network.mlp_bias) options.emplace_back("disable-bias-linear", true);
  if (!network.mlp_bias && network.qkv_bias) options.emplace_back("add-qkv-bias", true);
  if (!network.tied_embeddings) options.emplace_back("untie-embeddings-and-output-weights", true);
  options.emplace_back("attention-dropout", network.attention_dropout ? 0.1 : 0.0);
  options.emplace_back("hidden-dropout", network.hidden_dropout ? 0.1 : 0.0);
  if (network.prediction_layers > 0) {
    options.emplace_back("mtp-num-layers", network.prediction_layers);
  }
  if (network.moe.experts > 0) AddExperts(network, options);
  options.emplace_back("vocab-size", network.vocab);
  return options;
}

}  // namespace stagecraft
