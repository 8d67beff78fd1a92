#include "sim/workload/networks/decoder.h"

#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

size_t AddAnyAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                       LayerBuilder& layer) {
  return config.mla.kv_rank > 0 ? AddLatentAttention(config, backend, input, layer)
                                : AddAttention(config, backend, input, layer);
}

size_t AddParallelBlock(const DecoderConfig& config, AttentionBackend backend, Mlp mlp,
                        size_t stream, LayerBuilder& layer) {
  const size_t norm = layer.Add(NormOperator(config, "attention_norm", config.hidden), {stream});
  const size_t projection = AddAnyAttention(config, backend, norm, layer);
  size_t mlp_norm = norm;
  if (!config.shared_norm) {
    mlp_norm = layer.Add(NormOperator(config, "mlp_norm", config.hidden), {stream});
    layer[mlp_norm].saved.clear();  // the attention norm keeps the same tensor
  }
  const size_t down = AddMlp(config, mlp, mlp_norm, layer);
  return layer.Add(ResidualOperator(config, {"attention", "mlp"}, "residual"),
                   {stream, projection, down});
}

LayerKind BlockLayer(const DecoderConfig& config, AttentionBackend backend, Mlp mlp) {
  LayerBuilder layer(mlp == Mlp::kSparse ? "moe_block" : "block", LayerRole::kBlock, config.hidden);
  AddOpSequence(config, backend, mlp, kLayerInput, layer);
  LayerKind kind = layer.Take();
  return kind;
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
  const size_t block = AddOpSequence(config, backend, mlp, joined, layer);
  layer.Add(NormOperator(config, "prediction_norm", hidden), {block});
  LayerKind kind = layer.Take();
  kind.tied_parameters = config.vocab * hidden;
  return kind;
}

// Returns the index of the kind of block with such an MLP, which it adds if there is none yet.
int KindOf(const DecoderConfig& config, Mlp mlp, std::optional<int>& index, Workload& workload) {
  if (!index.has_value()) {
    index = static_cast<int>(workload.kinds.size());
    workload.kinds.push_back(BlockLayer(config, workload.attention, mlp));
  }
  return *index;
}

void AddLayer(LayerKind kind, int64_t count, Workload& workload) {
  if (count == 0) return;
  const int index = static_cast<int>(workload.kinds.size());
  workload.kinds.push_back(std::move(kind));
  workload.layers.insert(workload.layers.end(), static_cast<size_t>(count), index);
}

}  // namespace

size_t AddOpSequence(const DecoderConfig& config, AttentionBackend backend, Mlp mlp, size_t stream,
                     LayerBuilder& layer) {
  if (config.parallel_residual) return AddParallelBlock(config, backend, mlp, stream, layer);
  const size_t middle = AddResidualBranch(config, "attention", stream, layer, [&](size_t input) {
    return AddAnyAttention(config, backend, input, layer);
  });
  return AddResidualBranch(config, "mlp", middle, layer,
                           [&](size_t input) { return AddMlp(config, mlp, input, layer); });
}

Workload BuildDecoder(const DecoderConfig& given, AttentionBackend attention, std::string name) {
  const DecoderConfig config = Completed(given);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  Workload workload = WorkloadFacts(config, attention, std::move(name));
  AddLayer(EmbeddingLayer(config, "embedding", 0), 1, workload);
  std::optional<int> dense;
  std::optional<int> sparse;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    workload.layers.push_back(config.moe.IsSparse(layer)
                                  ? KindOf(config, Mlp::kSparse, sparse, workload)
                                  : KindOf(config, Mlp::kDense, dense, workload));
  }
  if (config.prediction_layers > 0) {
    AddLayer(PredictionLayer(config, attention), config.prediction_layers, workload);
  }
  AddLayer(HeadLayer(config), 1, workload);
  return workload;
}

}  // namespace stagecraft
