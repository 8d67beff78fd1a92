#include <algorithm>
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
  const SsmConfig& ssm = config.ssm;
  const DeltaConfig& delta = config.delta;
  const double recurrent =
      3 * Real(ssm.heads) * Real(ssm.head_size) + 2 * Real(ssm.groups) * Real(ssm.state) +
      2 * Real(delta.key_heads) * Real(delta.key_size) +
      3 * Real(delta.value_heads) * Real(delta.value_size) + Real(config.indexer.head_size);
  const double windows = Real(ssm.convolution) + Real(delta.convolution);
  const double indexer =
      (Real(mla.query_rank) + 1) * Real(config.indexer.heads) * Real(config.indexer.head_size);
  const double per_layer = (hidden + ranks) * (4 * heads + ranks) + hidden * (inner + 2 * hidden) +
                           recurrent * (hidden + windows) + indexer;
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

bool HasMixer(const DecoderConfig& config, Mixer mixer) {
  return std::find(config.mixers.begin(), config.mixers.end(), mixer) != config.mixers.end();
}

void FindIndexerErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const IndexerConfig& indexer = config.indexer;
  if (indexer == IndexerConfig()) return;
  const std::array<Size, 3> sizes = {{{"indexer_heads", indexer.heads, 1, kMaxSize},
                                      {"indexer_head_size", indexer.head_size, 1, kMaxSize},
                                      {"indexer_keys", indexer.keys, 1, kMaxSize}}};
  FindSizeErrors(sizes, errors);
  if (config.mla.query_rank == 0) {
    errors.push_back(
        "query_rank: got 0, want queries that are projected down: an indexer reads them");
  }
}

void FindRecurrenceErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const SsmConfig& ssm = config.ssm;
  const DeltaConfig& delta = config.delta;
  if (HasMixer(config, Mixer::kSsm)) {
    const std::array<Size, 6> sizes = {{{"ssm_heads", ssm.heads, 1, kMaxSize},
                                        {"ssm_head_size", ssm.head_size, 1, kMaxSize},
                                        {"ssm_state", ssm.state, 1, kMaxSize},
                                        {"ssm_groups", ssm.groups, 1, kMaxSize},
                                        {"ssm_convolution", ssm.convolution, 1, kMaxSize},
                                        {"ssm_chunk", ssm.chunk, 1, kMaxSize}}};
    FindSizeErrors(sizes, errors);
    if (ssm.groups > 0 && ssm.heads % ssm.groups != 0) {
      errors.push_back("ssm_groups: got " + std::to_string(ssm.groups) +
                       ", want a divisor of the " + std::to_string(ssm.heads) + " heads");
    }
  }
  if (HasMixer(config, Mixer::kDelta)) {
    const std::array<Size, 6> sizes = {{{"delta_key_heads", delta.key_heads, 1, kMaxSize},
                                        {"delta_value_heads", delta.value_heads, 1, kMaxSize},
                                        {"delta_key_size", delta.key_size, 1, kMaxSize},
                                        {"delta_value_size", delta.value_size, 1, kMaxSize},
                                        {"delta_convolution", delta.convolution, 1, kMaxSize},
                                        {"delta_chunk", delta.chunk, 1, kMaxSize}}};
    FindSizeErrors(sizes, errors);
    if (delta.key_heads > 0 && delta.value_heads % delta.key_heads != 0) {
      errors.push_back("delta_key_heads: got " + std::to_string(delta.key_heads) +
                       ", want a divisor of the " + std::to_string(delta.value_heads) +
                       " value heads");
    }
  }
}

// Checks that every block has a part, and that windows have a size.
void FindBlockErrors(const DecoderConfig& config, std::vector<std::string>& errors) {
  const auto blocks = static_cast<size_t>(config.layers);
  const auto is_short = [&](size_t listed) { return listed > 0 && listed < blocks; };
  if (is_short(config.mixers.size()) || is_short(config.lacks_mlp.size())) {
    errors.push_back("layers: got " + std::to_string(config.layers) +
                     ", want no more than those whose parts are listed");
    return;
  }
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const BlockParts parts = config.Block(layer);
    if (parts.mixer != Mixer::kNone || parts.mlp != Mlp::kNone) continue;
    errors.push_back("layers: got layer " + std::to_string(layer) +
                     " without parts, want an MLP or something that mixes tokens");
    return;
  }
  if (HasMixer(config, Mixer::kWindow)) {
    const std::array<Size, 1> sizes = {{{"window", config.window.keys, 1, kMaxSize}}};
    FindSizeErrors(sizes, errors);
  }
  const bool is_listed_latent = config.mla.kv_rank > 0 && HasMixer(config, Mixer::kWindow);
  if (is_listed_latent) errors.push_back("window: got one, want none with latent attention");
  const bool lacks_parts = HasMixer(config, Mixer::kNone) || !config.lacks_mlp.empty();
  if (lacks_parts && config.parallel_residual) {
    errors.push_back("layers: got some with one part, want attention and MLP if they are parallel");
  }
}

const char* Name(NormPlace place) {
  switch (place) {
    case NormPlace::kBefore:
      return "before";
    case NormPlace::kAfter:
      return "after";
    case NormPlace::kBranchEnd:
      return "at the end of each branch";
    case NormPlace::kBothEnds:
      break;
  }
  return "at both ends of each branch";
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
  if (config.parallel_residual && config.norm_place != NormPlace::kBefore) {
    errors.push_back("norm_place: got " + std::string(Name(config.norm_place)) +
                     ", want before if attention and MLP are parallel");
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
  FindIndexerErrors(config, errors);
  FindRecurrenceErrors(config, errors);
  if (errors.empty()) FindBlockErrors(config, errors);
  if (errors.empty()) FindShapeErrors(config, errors);
  return errors;
}

int64_t PaddedVocabulary(int64_t vocab, int tensor_parallel, int multiple) {
  CHECK(vocab > 0 && tensor_parallel > 0 && multiple > 0);
  const int64_t rows = static_cast<int64_t>(tensor_parallel) * multiple;
  return (vocab + rows - 1) / rows * rows;
}

}  // namespace stagecraft
