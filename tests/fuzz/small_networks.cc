#include "tests/fuzz/small_networks.h"

#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft::fuzz {
namespace {

constexpr const char* kExperts =
    R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 4,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 256,
        "max_position_embeddings": 4096})";

}  // namespace

const std::vector<Workload>& SmallNetworks() {
  static const std::vector<Workload> networks = {
      LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash),
      BuildNetwork(ParseHuggingFaceNetwork(kExperts, "experts"), AttentionBackend::kUnfused,
                   "experts")};
  return networks;
}

}  // namespace stagecraft::fuzz
