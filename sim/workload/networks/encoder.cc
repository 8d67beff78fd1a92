#include "sim/workload/networks/encoder.h"

#include <utility>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

EncoderConfig Bert() {
  EncoderConfig config;
  config.block = DecoderOfFamily("gpt");
  config.block.activation = Activation::kGelu;
  config.block.causal = false;
  config.block.norm_place = NormPlace::kAfter;
  config.block.final_norm = false;
  config.block.embedding_norm = true;
  config.block.head_bias = true;
  config.token_types = 2;
  return config;
}

EncoderConfig MegatronBert() {
  EncoderConfig config = Bert();
  config.block.norm_place = NormPlace::kBefore;
  config.block.final_norm = true;
  config.block.embedding_norm = false;
  return config;
}

size_t AddMaskedTokens(const DecoderConfig& block, size_t input, LayerBuilder& layer) {
  const int64_t hidden = block.hidden;
  const size_t transform =
      layer.Add(LinearOperator("transform", Split::kTokens, hidden, hidden, true), {input});
  Operator gelu = ElementwiseOperator("transform_activation", Split::kTokens, hidden, hidden);
  gelu.forward_elements = 2 * hidden;
  gelu.backward_elements = 3 * hidden;
  gelu.saved = {{"transform_activation_input", hidden, 0, Split::kTokens, false}};
  const size_t activation = layer.Add(std::move(gelu), {transform});
  const size_t norm = layer.Add(NormOperator(block, "transform_norm", hidden), {activation});
  const size_t logits = layer.Add(
      LinearOperator("output_projection", Split::kColumn, hidden, block.vocab, block.head_bias),
      {norm});
  return layer.Add(LossOperator("loss", block.vocab), {logits});
}

// Predicts from the first token whether the second segment follows the first.
void AddSegmentPrediction(int64_t hidden, size_t input, LayerBuilder& layer) {
  const auto add = [&](Operator op, size_t producer) {
    op.positions = 1;
    return layer.Add(std::move(op), {producer});
  };
  const size_t pooler = add(LinearOperator("pooler", Split::kTokens, hidden, hidden, true), input);
  Operator tanh = ElementwiseOperator("pooler_activation", Split::kTokens, hidden, hidden);
  tanh.forward_elements = 2 * hidden;
  tanh.backward_elements = 3 * hidden;
  const size_t pooled = add(std::move(tanh), pooler);
  const size_t score =
      add(LinearOperator("segment_projection", Split::kTokens, hidden, 2, true), pooled);
  Operator loss = LossOperator("segment_loss", 2);
  loss.split = Split::kTokens;
  loss.saved.front().split = Split::kTokens;
  add(std::move(loss), score);
}

LayerKind EncoderHeadLayer(const EncoderConfig& config) {
  const DecoderConfig& block = config.block;
  LayerBuilder layer("head", LayerRole::kHead, 0);
  size_t last = kLayerInput;
  if (block.final_norm) {
    last = layer.Add(NormOperator(block, "final_norm", block.hidden), {last});
  }
  if (config.head == EncoderHead::kSpan) {
    // Start and end compete among the tokens of a sample; no rank shares them.
    const size_t span =
        layer.Add(LinearOperator("span", Split::kTokens, block.hidden, 2, true), {last});
    Operator loss = LossOperator("loss", 2);
    loss.split = Split::kTokens;
    loss.saved.front().split = Split::kTokens;
    layer.Add(std::move(loss), {span});
    return layer.Take();
  }
  AddMaskedTokens(block, last, layer);
  if (config.head == EncoderHead::kPretraining) AddSegmentPrediction(block.hidden, last, layer);
  LayerKind kind = layer.Take();
  if (block.tied_embeddings) kind.tied_parameters = block.vocab * block.hidden;
  return kind;
}

}  // namespace

EncoderConfig EncoderOfFamily(std::string_view family) {
  EncoderConfig config;
  if (family == "bert") {
    config = Bert();
  } else if (family == "roberta") {
    config = Bert();
    config.token_types = 1;
    config.block.position_offset = 2;
  } else if (family == "megatron_bert") {
    config = MegatronBert();
  } else {
    throw InputError("encoder family: got '" + std::string(family) +
                     "', want one of bert, roberta, megatron_bert");
  }
  config.block.family = family;
  return config;
}

std::vector<std::string> FindErrors(const EncoderConfig& config) {
  std::vector<std::string> errors = FindErrors(config.block);
  if (config.token_types < 0 || config.token_types > config.block.vocab) {
    errors.push_back("token_types: got " + std::to_string(config.token_types) + ", want 0 to the " +
                     std::to_string(config.block.vocab) + " tokens");
  }
  return errors;
}

Workload BuildEncoder(const EncoderConfig& given, AttentionBackend attention, std::string name) {
  EncoderConfig config = given;
  config.block = Completed(config.block);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  const DecoderConfig& block = config.block;
  Workload workload = WorkloadFacts(block, attention, std::move(name));
  workload.tied_embeddings = block.tied_embeddings && config.head != EncoderHead::kSpan;
  LayerBuilder layer("block", LayerRole::kBlock, block.hidden);
  AddOpSequence(block, attention, {}, kLayerInput, layer);
  workload.kinds = {EmbeddingLayer(block, "embedding", config.token_types), layer.Take(),
                    EncoderHeadLayer(config)};
  workload.layers.assign(static_cast<size_t>(block.layers) + 2, 1);
  workload.layers.front() = 0;
  workload.layers.back() = 2;
  return workload;
}

void SetPositions(LayerKind& kind, int64_t positions) {
  for (Operator& op : kind.operators) {
    if (op.positions == 0) op.positions = positions;
  }
  if (kind.boundary_positions == 0) kind.boundary_positions = positions;
}

}  // namespace stagecraft
