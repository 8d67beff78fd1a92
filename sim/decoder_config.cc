#include <array>
#include <cmath>

#include "costmodel/check.h"
#include "sim/decoder.h"

namespace stagecraft {
namespace {

// No published decoder comes near; beyond them 64-bit sums could overflow.
constexpr int64_t kMaxSize = 1'000'000'000;
constexpr int64_t kMaxLayers = 100'000;
constexpr double kMaxParameters = 1e15;

DecoderConfig Gpt() {
  DecoderConfig config{.family = "gpt"};
  config.learned_positions = true;
  config.norm_bias = config.qkv_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = true;
  config.attention_dropout = config.hidden_dropout = true;
  return config;
}

DecoderConfig GptNeox() {
  DecoderConfig config = Gpt();
  config.family = "gpt_neox";
  config.learned_positions = config.tied_embeddings = false;
  config.attention_dropout = config.hidden_dropout = false;
  config.rotary_fraction = 0.25;
  config.parallel_residual = true;
  return config;
}

DecoderConfig Opt() {
  DecoderConfig config = Gpt();
  config.family = "opt";
  config.activation = Activation::kRelu;
  return config;
}

DecoderConfig Mpt() {
  DecoderConfig config = Gpt();
  config.family = "mpt";
  config.norm_bias = config.qkv_bias = config.projection_bias = config.mlp_bias = false;
  config.attention_dropout = config.hidden_dropout = false;
  return config;
}

DecoderConfig Llama() {
  DecoderConfig config{.family = "llama"};
  config.rotary_fraction = 1;
  config.gated_mlp = true;
  config.activation = Activation::kSilu;
  config.norm = NormKind::kRms;
  return config;
}

DecoderConfig Internlm() {
  DecoderConfig config = Llama();
  config.family = "internlm";
  return config;
}

DecoderConfig Nemotron() {
  DecoderConfig config{.family = "nemotron"};
  config.rotary_fraction = 0.5;
  config.activation = Activation::kSquaredRelu;
  config.norm_bias = true;
  return config;
}

double ApproximateParameters(const DecoderConfig& config) {
  const double hidden = static_cast<double>(config.hidden);
  const double queries = static_cast<double>(config.heads) * static_cast<double>(config.head_size);
  const double per_layer = hidden * (4 * queries + 3 * static_cast<double>(config.ffn));
  return static_cast<double>(config.layers) * per_layer +
         hidden *
             (2 * static_cast<double>(config.vocab) + static_cast<double>(config.max_sequence));
}

void FindSizeErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  struct Size {
    const char* name;
    int64_t value;
    int64_t limit;
  };
  const std::array<Size, 8> sizes = {{{"layers", config.layers, kMaxLayers},
                                      {"hidden", config.hidden, kMaxSize},
                                      {"heads", config.heads, kMaxSize},
                                      {"kv_heads", config.kv_heads, kMaxSize},
                                      {"head_size", config.head_size, kMaxSize},
                                      {"ffn", config.ffn, kMaxSize},
                                      {"vocab", config.vocab, kMaxSize},
                                      {"max_sequence", config.max_sequence, kMaxSize}}};
  for (const Size& size : sizes) {
    if (size.value < 1 || size.value > size.limit) {
      errors.push_back(std::string(size.name) + ": got " + std::to_string(size.value) +
                       ", want 1 to " + std::to_string(size.limit));
    }
  }
}

}  // namespace

DecoderConfig DecoderOfFamily(std::string_view family) {
  struct Row {
    const char* name;
    DecoderConfig (*make)();
  };
  constexpr std::array<Row, 7> kFamilies = {{{"gpt", Gpt},
                                             {"gpt_neox", GptNeox},
                                             {"opt", Opt},
                                             {"mpt", Mpt},
                                             {"llama", Llama},
                                             {"internlm", Internlm},
                                             {"nemotron", Nemotron}}};
  std::string known;
  for (const Row& row : kFamilies) {
    if (family == row.name) return row.make();
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw InputError("decoder family: got '" + std::string(family) + "', want one of " + known);
}

DecoderConfig Completed(DecoderConfig config) {
  if (config.kv_heads == 0) config.kv_heads = config.heads;
  if (config.head_size == 0 && config.heads > 0 && config.hidden % config.heads == 0) {
    config.head_size = config.hidden / config.heads;
  }
  if (config.ffn == 0 && config.hidden <= kMaxSize) config.ffn = 4 * config.hidden;
  return config;
}

std::vector<std::string> FindErrors(const DecoderConfig& config) {
  std::vector<std::string> errors;
  if (config.head_size == 0 && config.heads > 0 && config.hidden % config.heads != 0) {
    return {"hidden: got " + std::to_string(config.hidden) + ", want a multiple of the " +
            std::to_string(config.heads) + " heads where no head size is given"};
  }
  FindSizeErrors(config, errors);
  if (!errors.empty()) return errors;
  if (config.heads % config.kv_heads != 0) {
    errors.push_back("kv_heads: got " + std::to_string(config.kv_heads) +
                     ", want a divisor of the " + std::to_string(config.heads) + " heads");
  }
  if (!(config.rotary_fraction >= 0 && config.rotary_fraction <= 1)) {
    errors.push_back("rotary_fraction: got " + std::to_string(config.rotary_fraction) +
                     ", want 0 to 1");
  }
  if (ApproximateParameters(config) > kMaxParameters) {
    errors.push_back(
        "layers, hidden, heads, ffn and vocab: got sizes that multiply to more "
        "than 10^15 parameters, want fewer");
  }
  return errors;
}

int64_t PaddedVocabulary(int64_t vocab, int tensor_parallel, int multiple) {
  CHECK(vocab > 0 && tensor_parallel > 0 && multiple > 0);
  const int64_t rows = static_cast<int64_t>(tensor_parallel) * multiple;
  return (vocab + rows - 1) / rows * rows;
}

}  // namespace stagecraft
