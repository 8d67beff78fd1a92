#include <algorithm>
#include <string_view>

#include "sim/workload/limits.h"
#include "sim/workload/readers/hf_config_keys.h"

namespace stagecraft::hf_config_keys {
namespace {

// Returns the transformer blocks that keep the dense MLP: those before `first`, those that the step
// leaves out, and `others`. Qwen and Llama-4 count steps from one, DeepSeek from zero. Of a number
// of layers that is a typing error, which is found later, only the first kMostLayers are listed.
std::vector<int64_t> DenseLayers(int64_t layers, int64_t first, int64_t step, bool from_one,
                                 std::vector<int64_t> others) {
  std::sort(others.begin(), others.end());
  std::vector<int64_t> dense;
  for (int64_t layer = 0; layer < std::min(layers, kMostLayers); ++layer) {
    const bool is_step = (layer + (from_one ? 1 : 0)) % step == 0;
    const bool is_other = std::binary_search(others.begin(), others.end(), layer);
    if (layer < first || !is_step || is_other) dense.push_back(layer);
  }
  return dense;
}

// A router may choose groups of experts first; that changes no FLOPs, but to how many ranks and
// nodes a row goes.
void ReadGroups(ConfigReader& reader, MoeConfig& moe) {
  const int64_t experts = moe.experts;
  int64_t& groups = moe.groups;
  int64_t& chosen = moe.groups_per_token;
  reader.Size("n_group", {"n_group"}, false, groups);
  reader.Size("topk_group", {"topk_group"}, false, chosen);
  if (experts % groups != 0) {
    reader.Fail("n_group: got " + std::to_string(groups) + ", want a divisor of the " +
                std::to_string(experts) + " experts");
  }
  if (chosen > groups) {
    reader.Fail("topk_group: got " + std::to_string(chosen) + ", want at most the " +
                std::to_string(groups) + " groups");
  }
  const bool is_known = moe.experts_per_token <= experts;  // others are refused later
  if (is_known && moe.experts_per_token > experts / groups * chosen) {
    reader.Fail("topk_group: got " + std::to_string(chosen) + ", want groups that have the " +
                std::to_string(moe.experts_per_token) + " experts of a token");
  }
}

}  // namespace

void ReadMoe(ConfigReader& reader, const Family& family, DecoderConfig& config) {
  MoeConfig& moe = config.moe;
  const std::string_view name = family.builder;
  reader.Size("experts", {"num_local_experts", "num_experts", "n_routed_experts"}, true,
              moe.experts);
  reader.Size("experts_per_token", {"num_experts_per_tok", "moe_router_topk"}, true,
              moe.experts_per_token);
  // Where there is no dense MLP, the key for one means the experts'.
  bool has_own_key = true;
  for (const char* without : {"mixtral", "gpt_oss", "llama4", "dbrx", "grok"}) {
    if (name == without) has_own_key = false;
  }
  reader.Size("expert_ffn", {"moe_intermediate_size", "moe_ffn_hidden_size"}, has_own_key, moe.ffn);
  int64_t first = 0;
  int64_t step = 1;
  if (name == "llama4") {
    moe.ffn = moe.shared_ffn = config.ffn;
    reader.Size("ffn", {"intermediate_size_mlp"}, true, config.ffn);
    reader.Size("interleave_moe_layer_step", {"interleave_moe_layer_step"}, false, step);
  }
  if (name == "qwen2_moe" || name == "qwen3_next") {
    reader.Size("shared_ffn", {"shared_expert_intermediate_size"}, true, moe.shared_ffn, 0);
    moe.shared_gate = moe.shared_ffn > 0;
  }
  if (family.network == Network::kLatentMoe || name == "glm4_moe") {
    int64_t shared = 0;
    reader.Size("shared_experts", {"n_shared_experts"}, false, shared, 0);
    moe.shared_ffn = shared * moe.ffn;
    reader.Size("first_k_dense_replace", {"first_k_dense_replace"}, true, first, 0);
    if (first > config.layers) {
      Refuse(reader, "first_k_dense_replace",
             "at most the " + std::to_string(config.layers) + " layers");
    }
    reader.Size("moe_layer_freq", {"moe_layer_freq"}, false, step);
    reader.Size("prediction_layers", {"num_nextn_predict_layers"}, false, config.prediction_layers,
                0);
    ReadGroups(reader, moe);
  }
  const bool is_qwen = name == "qwen2_moe" || name == "qwen3_moe" || name == "qwen3_next";
  if (is_qwen) reader.Size("decoder_sparse_step", {"decoder_sparse_step"}, false, step);
  moe.dense_layers =
      DenseLayers(config.layers, first, step, is_qwen || name == "llama4",
                  is_qwen ? reader.Indices("mlp_only_layers") : std::vector<int64_t>());
}

void ReadLatentAttention(ConfigReader& reader, DecoderConfig& config) {
  MlaConfig& mla = config.mla;
  // Null says that queries are not compressed; absence says nothing.
  if (!reader.HasKey("q_lora_rank")) reader.AddMissing("q_lora_rank (a number or null)");
  reader.Size("query_rank", {"q_lora_rank"}, false, mla.query_rank);
  reader.Size("kv_rank", {"kv_lora_rank"}, true, mla.kv_rank);
  reader.Size("plain_size", {"qk_nope_head_dim"}, true, mla.plain_size);
  reader.Size("rotary_size", {"qk_rope_head_dim"}, true, mla.rotary_size);
  reader.Size("value_size", {"v_head_dim"}, true, mla.value_size);
  if (reader.Find("index_n_heads") == nullptr) return;
  IndexerConfig& indexer = config.indexer;
  reader.Size("indexer_heads", {"index_n_heads"}, true, indexer.heads);
  reader.Size("indexer_head_size", {"index_head_dim"}, true, indexer.head_size);
  reader.Size("indexer_keys", {"index_topk"}, true, indexer.keys);
}

}  // namespace stagecraft::hf_config_keys
