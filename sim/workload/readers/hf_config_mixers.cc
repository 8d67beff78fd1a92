// What mixes the tokens of each block: attention over all keys, windows, chunks, or recurrences.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/limits.h"
#include "sim/workload/readers/hf_config_keys.h"

namespace stagecraft::hf_config_keys {
namespace {

using Json = nlohmann::json;

// The number of blocks, or fewer if it is a typing error, which is found later.
int64_t BlockCount(const DecoderConfig& config) { return std::min(config.layers, kMostLayers); }

// Returns whether a list has an entry for each layer. A file that does not say how many layers
// there are is refused for that, not for its lists.
bool HasOnePerLayer(size_t entries, const DecoderConfig& config) {
  return config.layers == 0 || entries == static_cast<size_t>(config.layers);
}

struct LayerType {
  const char* name;
  Mixer mixer;
};
constexpr std::array<LayerType, 4> kLayerTypes = {{
    {"full_attention", Mixer::kAttention},
    {"sliding_attention", Mixer::kWindow},
    {"chunked_attention", Mixer::kWindow},
    {"linear_attention", Mixer::kDelta},
}};

// Reads one word for every block. Returns whether the key is present.
bool ReadLayerTypes(const ConfigReader& reader, DecoderConfig& config) {
  const Json* types = reader.Find("layer_types");
  if (types == nullptr) return false;
  const std::string wanted = "a list of " + std::to_string(config.layers) +
                             " words, one for each layer, of full_attention, sliding_attention, "
                             "chunked_attention and linear_attention";
  if (!types->is_array() || !HasOnePerLayer(types->size(), config)) {
    reader.Fail("layer_types", *types, wanted);
  }
  for (const Json& type : *types) {
    const auto* const row =
        std::find_if(kLayerTypes.begin(), kLayerTypes.end(),
                     [&](const LayerType& known) { return type == known.name; });
    if (row == kLayerTypes.end()) reader.Fail("layer_types", type, wanted);
    config.mixers.push_back(row->mixer);
  }
  return true;
}

// All blocks have `usual`, but for the last of every `interval`, which has attention over all keys.
void AlternateEvery(int64_t interval, Mixer usual, DecoderConfig& config) {
  for (int64_t layer = 0; layer < BlockCount(config); ++layer) {
    config.mixers.push_back((layer + 1) % interval == 0 ? Mixer::kAttention : usual);
  }
}

// Blocks that do not rotate see all keys; of these no_rope_layers, if not empty, has a zero.
void ReadUnrotated(ConfigReader& reader, DecoderConfig& config) {
  constexpr int64_t kUsualInterval = 4;
  const std::vector<int64_t> rotates = reader.Indices("no_rope_layers");
  if (rotates.empty()) {
    int64_t interval = kUsualInterval;
    reader.Size("no_rope_layer_interval", {"no_rope_layer_interval"}, false, interval);
    return AlternateEvery(interval, Mixer::kWindow, config);
  }
  if (!HasOnePerLayer(rotates.size(), config)) {
    reader.Fail("no_rope_layers", *reader.Find("no_rope_layers"),
                "a number for each of the " + std::to_string(config.layers) + " layers, or none");
  }
  for (const int64_t rotated : rotates) {
    config.mixers.push_back(rotated == 0 ? Mixer::kAttention : Mixer::kWindow);
  }
}

// Families whose files say for all blocks alike, or for those from a certain one on, that they have
// a window.
void ReadSameWindow(ConfigReader& reader, std::string_view family, DecoderConfig& config) {
  if (reader.Find("sliding_window") == nullptr) return;
  int64_t first = 0;
  if (family.starts_with("qwen")) {
    bool is_used = false;
    reader.Switch("use_sliding_window", is_used);
    if (!is_used) return;
    reader.Size("max_window_layers", {"max_window_layers"}, true, first, 0);
  }
  for (int64_t layer = 0; layer < BlockCount(config); ++layer) {
    config.mixers.push_back(layer < first ? Mixer::kAttention : Mixer::kWindow);
  }
}

void ReadWindowSize(ConfigReader& reader, DecoderConfig& config) {
  const bool has_windows =
      std::find(config.mixers.begin(), config.mixers.end(), Mixer::kWindow) != config.mixers.end();
  if (!has_windows) return;
  const char* key = config.window.is_chunked ? "attention_chunk_size" : "sliding_window";
  reader.Size("window", {key}, true, config.window.keys);
}

}  // namespace

void ReadWindows(ConfigReader& reader, const Family& family, DecoderConfig& config) {
  const std::string_view name = family.builder;
  if (!ReadLayerTypes(reader, config)) {
    if (name == "gemma2" || name == "gpt_oss") AlternateEvery(2, Mixer::kWindow, config);
    if (name == "gemma3") {
      int64_t interval = 6;  // of every Gemma-3
      reader.Size("interval", {"sliding_window_pattern", "_sliding_window_pattern"}, false,
                  interval);
      AlternateEvery(interval, Mixer::kWindow, config);
    }
    if (name == "llama4") ReadUnrotated(reader, config);
    if (name == "qwen3_next") {
      int64_t interval = 4;
      reader.Size("interval", {"full_attention_interval"}, false, interval);
      AlternateEvery(interval, Mixer::kDelta, config);
    }
    for (const char* same :
         {"mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe"}) {
      if (name == same) ReadSameWindow(reader, name, config);
    }
  }
  ReadWindowSize(reader, config);
}

void ReadDelta(ConfigReader& reader, DecoderConfig& config) {
  DeltaConfig& delta = config.delta;
  reader.Size("delta_key_heads", {"linear_num_key_heads"}, true, delta.key_heads);
  reader.Size("delta_value_heads", {"linear_num_value_heads"}, true, delta.value_heads);
  reader.Size("delta_key_size", {"linear_key_head_dim"}, true, delta.key_size);
  reader.Size("delta_value_size", {"linear_value_head_dim"}, true, delta.value_size);
  reader.Size("delta_convolution", {"linear_conv_kernel_dim"}, false, delta.convolution);
}

// Mamba-2's own files call its heads num_heads, which ReadSizes() takes for those of attention.
void ReadSsm(ConfigReader& reader, bool is_hybrid, DecoderConfig& config) {
  SsmConfig& ssm = config.ssm;
  ssm.state = 128;  // of Mamba2Config, like the next one
  ssm.groups = 8;
  reader.Size("ssm_heads", {"mamba_num_heads", is_hybrid ? nullptr : "num_heads"}, true, ssm.heads);
  reader.Size("ssm_head_size", {"mamba_head_dim", is_hybrid ? nullptr : "head_dim"}, true,
              ssm.head_size);
  reader.Size("ssm_state", {"ssm_state_size", "state_size"}, false, ssm.state);
  reader.Size("ssm_groups", {"n_groups"}, false, ssm.groups);
  reader.Size("ssm_convolution", {"conv_kernel"}, false, ssm.convolution);
  reader.Size("ssm_chunk", {"chunk_size"}, false, ssm.chunk);
  reader.Switch("use_conv_bias", ssm.convolution_bias);
  int64_t expand = 0;
  reader.Size("expand", {"expand"}, false, expand);
  const bool has_sizes = config.hidden > 0 && ssm.Inner() > 0;  // no key of theirs is missing
  if (!is_hybrid && has_sizes && expand > 0 && expand * config.hidden != ssm.Inner()) {
    reader.Fail("num_heads: got " + std::to_string(ssm.heads) + " of head_dim " +
                std::to_string(ssm.head_size) + ", want heads that make " + std::to_string(expand) +
                " x hidden_size = " + std::to_string(expand * config.hidden));
  }
}

void ReadPureSsm(ConfigReader& reader, DecoderConfig& config) {
  ReadSsm(reader, /*is_hybrid=*/false, config);
  const auto blocks = static_cast<size_t>(BlockCount(config));
  config.mixers.assign(blocks, Mixer::kSsm);
  config.lacks_mlp.assign(blocks, true);
}

// Each block of a hybrid is one part with a letter: M a state space model, * attention, - an MLP.
void ReadHybrid(ConfigReader& reader, DecoderConfig& config) {
  ReadSsm(reader, /*is_hybrid=*/true, config);
  reader.Size("head_size", {"attention_head_dim", "head_dim"}, false, config.head_size);
  constexpr const char* kKey = "hybrid_override_pattern";
  const Json* pattern = reader.Find(kKey);
  if (pattern == nullptr) return reader.AddMissing(kKey);
  const std::string wanted = "a letter for each of the " + std::to_string(config.layers) +
                             " layers: M (Mamba-2), * (attention) or - (MLP)";
  const std::string letters = pattern->is_string() ? pattern->get<std::string>() : "";
  const bool is_known = letters.find_first_not_of("M*-") == std::string::npos;
  if (!pattern->is_string() || !HasOnePerLayer(letters.size(), config) || !is_known) {
    reader.Fail(kKey, *pattern, wanted);
  }
  for (const char letter : letters) {
    config.mixers.push_back(letter == 'M'   ? Mixer::kSsm
                            : letter == '*' ? Mixer::kAttention
                                            : Mixer::kNone);
    config.lacks_mlp.push_back(letter != '-');
  }
}

}  // namespace stagecraft::hf_config_keys
