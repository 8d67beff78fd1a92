#include <utility>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder_operators.h"
#include "sim/workload/networks/encoder.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxSide = 100'000;  // pixels; larger ones are typing errors
constexpr double kMaxPatchWeights = 1e15;

LayerKind PatchEmbedding(const VisionConfig& config) {
  const int64_t hidden = config.block.hidden;
  LayerBuilder layer("embedding", LayerRole::kEmbedding, hidden);
  Operator patches = LinearOperator("patch_embedding", Split::kTokens,
                                    config.channels * config.patch * config.patch, hidden, true);
  patches.kind = OperatorKind::kConvolution;
  patches.positions = config.Patches();
  patches.input_elements = config.channels * config.image * config.image;
  const size_t convolution = layer.Add(std::move(patches), {});
  Operator positions = TableOperator("position_embedding", Split::kTokens, config.Tokens(), hidden,
                                     /*adds_to_input=*/true);
  positions.parameters += hidden;  // and the token that is classified
  const size_t sum = layer.Add(std::move(positions), {convolution});
  if (config.block.hidden_dropout) layer.Add(DropoutOperator("embedding_dropout", hidden), {sum});
  return layer.Take();
}

LayerKind Classifier(const VisionConfig& config) {
  const int64_t hidden = config.block.hidden;
  LayerBuilder layer("head", LayerRole::kHead, 0);
  const size_t norm = layer.Add(NormOperator(config.block, "final_norm", hidden), {kLayerInput});
  Operator matrix = LinearOperator("classifier", Split::kTokens, hidden, config.classes, true);
  matrix.positions = 1;
  const size_t scores = layer.Add(std::move(matrix), {norm});
  Operator loss = LossOperator("loss", config.classes);
  loss.split = Split::kTokens;
  loss.saved.front().split = Split::kTokens;
  loss.positions = 1;
  layer.Add(std::move(loss), {scores});
  return layer.Take();
}

}  // namespace

VisionConfig VisionTransformer() {
  VisionConfig config;
  config.block = DecoderOfFamily("gpt");
  config.block.activation = Activation::kGelu;
  config.block.family = "vit";
  config.block.causal = config.block.tied_embeddings = false;
  config.block.attention_dropout = config.block.hidden_dropout = false;
  return config;
}

VisionConfig Completed(VisionConfig config) {
  config.block.vocab = config.classes;
  if (config.patch > 0 && config.image <= kMaxSide) config.block.max_sequence = config.Tokens();
  config.block = Completed(config.block);
  return config;
}

std::vector<std::string> FindErrors(const VisionConfig& config) {
  const auto range = [](const char* name, int64_t value, int64_t high) {
    return std::string(name) + ": got " + std::to_string(value) + ", want 1 to " +
           std::to_string(high);
  };
  if (config.image < 1 || config.image > kMaxSide) return {range("image", config.image, kMaxSide)};
  if (config.patch < 1 || config.patch > config.image) {
    return {range("patch", config.patch, config.image)};
  }
  if (config.image % config.patch != 0) {
    return {"image: got " + std::to_string(config.image) + ", want a multiple of the patch, " +
            std::to_string(config.patch)};
  }
  if (config.channels < 1 || config.channels > kMaxSide) {
    return {range("channels", config.channels, kMaxSide)};
  }
  // Each is within its range, but all of them multiplied may still not fit.
  const double weights = static_cast<double>(config.channels) * static_cast<double>(config.patch) *
                         static_cast<double>(config.patch) *
                         static_cast<double>(config.block.hidden);
  if (weights > kMaxPatchWeights) {
    return {"channels, patch and hidden: got sizes that multiply to more than 10^15, want fewer"};
  }
  return FindErrors(config.block);
}

Workload BuildVision(const VisionConfig& given, AttentionBackend attention, std::string name) {
  const VisionConfig config = Completed(given);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  Workload workload = WorkloadFacts(config.block, attention, std::move(name));
  workload.vocabulary = 0;
  workload.lists_kernels = true;  // like other networks of images
  LayerBuilder layer("block", LayerRole::kBlock, config.block.hidden);
  AddOpSequence(config.block, attention, {}, kLayerInput, layer);
  workload.kinds = {PatchEmbedding(config), layer.Take(), Classifier(config)};
  for (LayerKind& kind : workload.kinds) SetPositions(kind, config.Tokens());
  workload.kinds.back().boundary_positions = 0;
  workload.layers.assign(static_cast<size_t>(config.block.layers) + 2, 1);
  workload.layers.front() = 0;
  workload.layers.back() = 2;
  return workload;
}

}  // namespace stagecraft
