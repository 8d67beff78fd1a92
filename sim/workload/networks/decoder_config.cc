#include <array>
#include <cmath>

#include "costmodel/check.h"
#include "sim/workload/limits.h"
#include "sim/workload/networks/decoder.h"

namespace stagecraft {
namespace {

// No published decoder comes near these limits; beyond them 64-bit sums could overflow.
constexpr int64_t kMaxSize = 1'000'000'000;
constexpr int64_t kMaxPredictionLayers = 16;
constexpr double kMaxParameters = 1e15;

double Real(int64_t value) { return static_cast<double>(value); }

double ApproximateParameters(const DecoderConfig& config) {
  const double hidden = Real(config.hidden);
  double inner = 3 * Real(config.ffn);
  if (config.moe.experts > 0) {
    inner += 3 * (Real(config.moe.experts) * Real(config.moe.ffn) + Real(config.moe.shared_ffn)) +
             Real(config.moe.experts);
  }
  const MlaConfig& mla = config.mla;
  const double heads =
      Real(config.heads) * (Real(config.head_size) + Real(mla.QuerySize()) + Real(mla.value_size));
  const double ranks = Real(mla.query_rank) + Real(mla.kv_rank) + Real(mla.rotary_size);
  const double per_layer = (hidden + ranks) * (4 * heads + ranks) + hidden * (inner + 2 * hidden);
  return Real(config.layers + config.prediction_layers) * per_layer +
         (hidden + Real(config.embedding_size)) *
             (2 * Real(config.vocab) + Real(config.max_sequence) + Real(config.position_offset));
}

struct Size {
  const char* name;
  int64_t value;
  int64_t low;
  int64_t high;
};

template <typename Sizes>
void FindSizeErrors(const Sizes& sizes, std::vector<std::string>& errors) {
  for (const Size& size : sizes) {
    if (size.value >= size.low && size.value <= size.high) continue;
    errors.push_back(std::string(size.name) + ": got " + std::to_string(size.value) + ", want " +
                     std::to_string(size.low) + " to " + std::to_string(size.high));
  }
}

void FindDenseErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const std::array<Size, 11> sizes = {
      {{"layers", config.layers, 1, kMostLayers},
       {"hidden", config.hidden, 1, kMaxSize},
       {"heads", config.heads, 1, kMaxSize},
       {"kv_heads", config.kv_heads, 1, kMaxSize},
       {"head_size", config.head_size, 1, kMaxSize},
       {"ffn", config.ffn, 1, kMaxSize},
       {"vocab", config.vocab, 1, kMaxSize},
       {"max_sequence", config.max_sequence, 1, kMaxSize},
       {"embedding_size", config.embedding_size, 1, kMaxSize},
       {"position_offset", config.position_offset, 0, kMaxSize},
       {"prediction_layers", config.prediction_layers, 0, kMaxPredictionLayers}}};
  FindSizeErrors(sizes, errors);
}

void FindMoeErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const MoeConfig& moe = config.moe;
  if (moe.experts == 0 && moe.experts_per_token == 0) return;
  const std::array<Size, 3> sizes = {{{"experts", moe.experts, 1, kMaxSize},
                                      {"expert_ffn", moe.ffn, 1, kMaxSize},
                                      {"shared_ffn", moe.shared_ffn, 0, kMaxSize}}};
  const size_t before = errors.size();
  FindSizeErrors(sizes, errors);
  if (errors.size() > before) return;
  if (moe.experts_per_token < 1 || moe.experts_per_token > moe.experts) {
    errors.push_back("experts_per_token: got " + std::to_string(moe.experts_per_token) +
                     ", want 1 to the " + std::to_string(moe.experts) + " experts");
  }
}

void FindMlaErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const MlaConfig& mla = config.mla;
  if (mla == MlaConfig()) return;
  const std::array<Size, 5> sizes = {{{"query_rank", mla.query_rank, 0, kMaxSize},
                                      {"kv_rank", mla.kv_rank, 1, kMaxSize},
                                      {"plain_size", mla.plain_size, 1, kMaxSize},
                                      {"rotary_size", mla.rotary_size, 1, kMaxSize},
                                      {"value_size", mla.value_size, 1, kMaxSize}}};
  FindSizeErrors(sizes, errors);
  if (config.kv_heads != config.heads) {
    errors.push_back("kv_heads: got " + std::to_string(config.kv_heads) + ", want the " +
                     std::to_string(config.heads) + " heads, as attention is latent");
  }
}

void FindShapeErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  if (config.heads % config.kv_heads != 0) {
    errors.push_back("kv_heads: got " + std::to_string(config.kv_heads) +
                     ", want a divisor of the " + std::to_string(config.heads) + " heads");
  }
  if (!(config.rotary_fraction >= 0 && config.rotary_fraction <= 1)) {
    errors.push_back("rotary_fraction: got " + std::to_string(config.rotary_fraction) +
                     ", want 0 to 1");
  }
  if (config.parallel_residual && config.norm_place == NormPlace::kAfter) {
    errors.push_back("norm_place: got after, want before if attention and MLP are parallel");
  }
  if (ApproximateParameters(config) > kMaxParameters) {
    errors.push_back(
        "layers, hidden, heads, ffn and vocab: got sizes that multiply to more "
        "than 10^15 parameters, want fewer");
  }
}

}  // namespace

DecoderConfig Completed(DecoderConfig config) {
  const MlaConfig& mla = config.mla;
  if (config.kv_heads == 0) config.kv_heads = config.heads;
  if (mla.kv_rank > 0 && mla.QuerySize() <= kMaxSize && mla.value_size <= kMaxSize) {
    config.head_size = (mla.QuerySize() + mla.value_size + 1) / 2;
  } else if (config.head_size == 0 && config.heads > 0 && config.hidden % config.heads == 0) {
    config.head_size = config.hidden / config.heads;
  }
  if (config.ffn == 0 && config.hidden <= kMaxSize) config.ffn = 4 * config.hidden;
  if (config.embedding_size == 0) config.embedding_size = config.hidden;
  if (config.moe.experts > 0 && config.moe.ffn == 0) config.moe.ffn = config.ffn;
  return config;
}

std::vector<std::string> FindErrors(const DecoderConfig& config) {
  std::vector<std::string> errors;
  if (config.head_size == 0 && config.heads > 0 && config.hidden % config.heads != 0) {
    return {"hidden: got " + std::to_string(config.hidden) + ", want a multiple of the " +
            std::to_string(config.heads) + " heads, as no head size is given"};
  }
  FindDenseErrors(config, errors);
  FindMoeErrors(config, errors);
  FindMlaErrors(config, errors);
  if (errors.empty()) FindShapeErrors(config, errors);
  return errors;
}

int64_t PaddedVocabulary(int64_t vocab, int tensor_parallel, int multiple) {
  CHECK(vocab > 0 && tensor_parallel > 0 && multiple > 0);
  const int64_t rows = static_cast<int64_t>(tensor_parallel) * multiple;
  return (vocab + rows - 1) / rows * rows;
}

}  // namespace stagecraft
