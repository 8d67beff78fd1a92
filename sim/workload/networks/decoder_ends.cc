// The first and the last layer of a decoder.
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

// The parameters of the output projection count in the layer that owns them.
size_t AddPrediction(const DecoderConfig& config, const std::string& suffix, bool is_copy,
                     size_t input, LayerBuilder& layer) {
  Operator matrix = LinearOperator("output_projection" + suffix, Split::kColumn,
                                   config.embedding_size, config.vocab, config.head_bias);
  if (is_copy) matrix.parameters = 0;
  const size_t logits = layer.Add(std::move(matrix), {input});
  return layer.Add(LossOperator("loss" + suffix, config.vocab, config.capped_logits), {logits});
}

}  // namespace

LayerKind EmbeddingLayer(const DecoderConfig& config, std::string name, int64_t token_types) {
  const int64_t hidden = config.hidden;
  LayerBuilder layer(std::move(name), LayerRole::kEmbedding, hidden);
  size_t last = layer.Add(
      TableOperator("token_embedding", Split::kRow, config.vocab, config.embedding_size, false),
      {});
  if (config.embedding_size != hidden) {
    last = layer.Add(LinearOperator("embedding_projection", Split::kTokens, config.embedding_size,
                                    hidden, false),
                     {last});
  }
  // Every rank holds the smaller tables whole.
  if (config.learned_positions) {
    const int64_t rows = config.max_sequence + config.position_offset;
    last =
        layer.Add(TableOperator("position_embedding", Split::kTokens, rows, hidden, true), {last});
  }
  if (token_types > 0) {
    last = layer.Add(TableOperator("type_embedding", Split::kTokens, token_types, hidden, true),
                     {last});
  }
  if (config.scaled_embeddings) {
    Operator scale = ElementwiseOperator("embedding_scale", Split::kTokens, hidden, hidden);
    scale.forward_elements = scale.backward_elements = 2 * hidden;
    last = layer.Add(std::move(scale), {last});
  }
  if (config.embedding_norm) {
    last = layer.Add(NormOperator(config, "embedding_norm", hidden), {last});
  }
  if (config.hidden_dropout) layer.Add(DropoutOperator("embedding_dropout", hidden), {last});
  return layer.Take();
}

LayerKind HeadLayer(const DecoderConfig& config) {
  LayerBuilder layer("head", LayerRole::kHead, 0);
  size_t last = kLayerInput;
  if (config.final_norm) {
    last = layer.Add(NormOperator(config, "final_norm", config.hidden), {last});
  }
  if (config.embedding_size != config.hidden) {
    last = layer.Add(LinearOperator("output_reduction", Split::kTokens, config.hidden,
                                    config.embedding_size, false),
                     {last});
  }
  AddPrediction(config, "", false, last, layer);
  for (int64_t depth = 1; depth <= config.prediction_layers; ++depth) {
    AddPrediction(config, "_" + std::to_string(depth), true, kLayerInput, layer);
  }
  LayerKind kind = layer.Take();
  if (config.tied_embeddings) kind.tied_parameters = config.vocab * config.embedding_size;
  return kind;
}

Workload WorkloadFacts(const DecoderConfig& config, AttentionBackend attention, std::string name) {
  Workload workload;
  workload.name = std::move(name);
  workload.hidden = config.hidden;
  workload.vocabulary = config.vocab;
  workload.heads = static_cast<int>(config.heads);
  workload.kv_heads = static_cast<int>(config.kv_heads);
  workload.max_sequence = config.max_sequence;
  workload.tied_embeddings = config.tied_embeddings;
  workload.attention = attention;
  return workload;
}

}  // namespace stagecraft
