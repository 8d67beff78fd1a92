#include "sim/workload/networks/decoder.h"

#include <map>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

size_t AddParallelBlock(const DecoderConfig& config, AttentionBackend backend, BlockParts parts,
                        size_t stream, LayerBuilder& layer) {
  const size_t norm = layer.Add(NormOperator(config, "attention_norm", config.hidden), {stream});
  const size_t projection = AddMixer(config, backend, parts.mixer, norm, layer);
  size_t mlp_norm = norm;
  if (!config.shared_norm) {
    mlp_norm = layer.Add(NormOperator(config, "mlp_norm", config.hidden), {stream});
    layer[mlp_norm].saved.clear();  // the attention norm keeps the same tensor
  }
  const size_t down = AddMlp(config, parts.mlp, mlp_norm, layer);
  return layer.Add(ResidualOperator(config, {"attention", "mlp"}, "residual"),
                   {stream, projection, down});
}

// Plain blocks are called "block"; others say what they have.
const char* NameOf(const BlockParts& parts) {
  constexpr const char* kNames[][3] = {
      {"block", "moe_block", "attention_block"},
      {"window_block", "window_moe_block", "window_attention_block"},
      {"ssm_mlp_block", "ssm_moe_block", "ssm_block"},
      {"delta_mlp_block", "delta_moe_block", "delta_block"},
      {"mlp_block", "moe_mlp_block", "empty_block"}};  // the last one is refused before
  return kNames[static_cast<int>(parts.mixer)][static_cast<int>(parts.mlp)];
}

LayerKind BlockLayer(const DecoderConfig& config, AttentionBackend backend, BlockParts parts) {
  LayerBuilder layer(NameOf(parts), LayerRole::kBlock, config.hidden);
  AddOpSequence(config, backend, parts, kLayerInput, layer);
  return layer.Take();
}

// Predicts one token further: the stream, joined with the next token's
// embedding, goes through a block of its own (DeepSeek-V3, 2024, section 2.2).
// The embedding is a copy, and the stream itself is handed on beside the result.
LayerKind PredictionLayer(const DecoderConfig& config, AttentionBackend backend) {
  const int64_t hidden = config.hidden;
  LayerBuilder layer("prediction_block", LayerRole::kBlock,
                     (1 + config.prediction_layers) * hidden);
  const size_t tokens =
      layer.Add(TableOperator("token_embedding", Split::kRow, config.vocab, hidden, false), {});
  const size_t token_norm = layer.Add(NormOperator(config, "token_norm", hidden), {tokens});
  const size_t stream_norm = layer.Add(NormOperator(config, "stream_norm", hidden), {kLayerInput});
  const size_t joined = layer.Add(LinearOperator("join", Split::kTokens, 2 * hidden, hidden, false),
                                  {token_norm, stream_norm});
  const Mlp mlp = config.moe.experts > 0 ? Mlp::kSparse : Mlp::kDense;
  const size_t block = AddOpSequence(config, backend, {Mixer::kAttention, mlp}, joined, layer);
  layer.Add(NormOperator(config, "prediction_norm", hidden), {block});
  LayerKind kind = layer.Take();
  kind.tied_parameters = config.vocab * hidden;
  return kind;
}

void AddLayer(LayerKind kind, int64_t count, Workload& workload) {
  if (count == 0) return;
  const int index = static_cast<int>(workload.kinds.size());
  workload.kinds.push_back(std::move(kind));
  workload.layers.insert(workload.layers.end(), static_cast<size_t>(count), index);
}

}  // namespace

BlockParts DecoderConfig::Block(int64_t layer) const {
  const auto index = static_cast<size_t>(layer);
  BlockParts parts;
  if (!mixers.empty()) parts.mixer = mixers[index];
  if (!lacks_mlp.empty() && lacks_mlp[index]) {
    parts.mlp = Mlp::kNone;
  } else if (moe.IsSparse(layer)) {
    parts.mlp = Mlp::kSparse;
  }
  return parts;
}

size_t AddMixer(const DecoderConfig& config, AttentionBackend backend, Mixer mixer, size_t input,
                LayerBuilder& layer) {
  CHECK(mixer != Mixer::kNone);
  if (mixer == Mixer::kSsm) return AddSsm(config, input, layer);
  if (mixer == Mixer::kDelta) return AddDelta(config, input, layer);
  return config.mla.kv_rank > 0 ? AddLatentAttention(config, backend, input, layer)
                                : AddAttention(config, backend, mixer, input, layer);
}

size_t AddOpSequence(const DecoderConfig& config, AttentionBackend backend, BlockParts parts,
                     size_t stream, LayerBuilder& layer) {
  if (config.parallel_residual) return AddParallelBlock(config, backend, parts, stream, layer);
  if (parts.mixer != Mixer::kNone) {
    const bool is_recurrent = parts.mixer == Mixer::kSsm || parts.mixer == Mixer::kDelta;
    stream = AddResidualBranch(
        config, is_recurrent ? "mixer" : "attention", stream, layer,
        [&](size_t input) { return AddMixer(config, backend, parts.mixer, input, layer); });
  }
  if (parts.mlp == Mlp::kNone) return stream;
  return AddResidualBranch(config, "mlp", stream, layer,
                           [&](size_t input) { return AddMlp(config, parts.mlp, input, layer); });
}

Workload BuildDecoder(const DecoderConfig& given, AttentionBackend attention, std::string name) {
  const DecoderConfig config = Completed(given);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  Workload workload = WorkloadFacts(config, attention, std::move(name));
  AddLayer(EmbeddingLayer(config, "embedding", 0), 1, workload);
  std::map<BlockParts, int> kinds;  // in order of the first block of each
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const BlockParts parts = config.Block(layer);
    const auto [kind, is_new] = kinds.try_emplace(parts, static_cast<int>(workload.kinds.size()));
    if (is_new) workload.kinds.push_back(BlockLayer(config, attention, parts));
    workload.layers.push_back(kind->second);
  }
  if (config.prediction_layers > 0) {
    AddLayer(PredictionLayer(config, attention), config.prediction_layers, workload);
  }
  AddLayer(HeadLayer(config), 1, workload);
  return workload;
}

}  // namespace stagecraft
