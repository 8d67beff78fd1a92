#include <algorithm>
#include <string_view>

#include "sim/workload/limits.h"
#include "sim/workload/readers/hf_config_keys.h"

namespace stagecraft::hf_config_keys {
namespace {

using Json = nlohmann::json;

EncoderHead HeadOf(const ConfigReader& reader) {
  const Json* classes = reader.Find("architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty() ||
      !classes->front().is_string()) {
    return EncoderHead::kMaskedTokens;
  }
  const std::string name = classes->front().get<std::string>();
  if (name.ends_with("ForQuestionAnswering")) return EncoderHead::kSpan;
  if (name.ends_with("ForPreTraining")) return EncoderHead::kPretraining;
  return EncoderHead::kMaskedTokens;
}

// Reads "relu", "gelu", "gated-gelu" or "gated-silu".
void ReadFeedForward(const ConfigReader& reader, DecoderConfig& block) {
  const Json* value = reader.Find("feed_forward_proj");
  if (value == nullptr) return;
  std::string name = value->is_string() ? value->get<std::string>() : "";
  constexpr std::string_view kGated = "gated-";
  block.gated_mlp = name.starts_with(kGated);
  if (block.gated_mlp) name = name.substr(kGated.size());
  for (const ActivationName& row : kActivations) {
    if (name != row.name) continue;
    block.activation = row.activation;
    return;
  }
  reader.Fail("feed_forward_proj", *value, "relu, gelu, gated-gelu or gated-silu");
}

// Sparse layers come at regular distances, beginning with the second layer.
MoeConfig SwitchSide(ConfigReader& reader, const char* key, int64_t layers, int64_t experts) {
  int64_t sparse = 0;
  reader.Size(key, {key}, true, sparse, 0);
  if (sparse == 0 || layers == 0) return {};
  if (sparse > layers || layers % sparse != 0) {
    reader.Fail(std::string(key) + ": got " + std::to_string(sparse) + ", want a divisor of the " +
                std::to_string(layers) + " layers");
  }
  MoeConfig moe{.experts = experts, .experts_per_token = 1};
  const int64_t step = layers / sparse;
  for (int64_t layer = 0; layer < std::min(layers, kMostLayers); ++layer) {
    if (step > 1 && layer % step != 1) moe.dense_layers.push_back(layer);
  }
  return moe;
}

int64_t ClassesOf(ConfigReader& reader) {
  int64_t classes = 1000;  // ImageNet's
  const bool is_given = reader.Size("vocab", {"num_labels", "num_classes"}, false, classes);
  const Json* labels = reader.Find("id2label");
  if (is_given || labels == nullptr) return classes;
  if (!labels->is_object() || labels->empty()) {
    reader.Fail("id2label", *labels, "an object with a name per class");
  }
  return static_cast<int64_t>(labels->size());
}

}  // namespace

EncoderConfig ReadEncoder(ConfigReader& reader, const Family& family) {
  EncoderConfig config = EncoderOfFamily(family.builder);
  DecoderConfig& block = config.block;
  ReadSizes(reader, &family, block);
  reader.Size("token_types", {"type_vocab_size"}, true, config.token_types, 0);
  reader.ThrowIfMissing();
  // The file counts the rows of the table, of which some are never used.
  if (block.max_sequence <= block.position_offset) {
    reader.Fail("max_position_embeddings: got " + std::to_string(block.max_sequence) +
                ", want more than " + std::to_string(block.position_offset));
  }
  block.max_sequence -= block.position_offset;
  ReadSwitches(reader, block);
  ReadActivation(reader, "hidden_act", block);
  Refuse(reader, "add_cross_attention", "an encoder without it");
  Refuse(reader, "is_decoder", "an encoder, false");
  config.head = HeadOf(reader);
  block = Completed(block);
  reader.ThrowFirst(FindErrors(config));
  return config;
}

VisionConfig ReadVision(ConfigReader& reader, const Family& family) {
  VisionConfig config = VisionTransformer();
  for (const SizeField& field : kSizes) {
    const std::string_view name = field.name;
    // The numbers of classes and tokens take the place of these.
    if (name == "vocab" || name == "max_sequence") continue;
    const bool is_needed = field.need == Need::kAlways || (name == "ffn" && family.needs_ffn);
    reader.Size(field.name, field.spellings, is_needed, config.block.*field.member);
  }
  reader.Size("image", {"image_size"}, true, config.image);
  reader.Size("patch", {"patch_size"}, true, config.patch);
  reader.Size("channels", {"num_channels"}, false, config.channels);
  config.classes = ClassesOf(reader);
  reader.ThrowIfMissing();
  ReadSwitches(reader, config.block);
  reader.Switch("qkv_bias", config.block.qkv_bias);
  ReadActivation(reader, "hidden_act", config.block);
  config = Completed(config);
  reader.ThrowFirst(FindErrors(config));
  return config;
}

EncoderDecoderConfig ReadEncoderDecoder(ConfigReader& reader, const Family& family) {
  EncoderDecoderConfig config = EncoderDecoderOfFamily(family.builder);
  DecoderConfig& block = config.block;
  ReadSizes(reader, &family, block);
  constexpr int64_t kHeadSize = 64;  // Hugging Face's default, whatever the hidden size
  if (block.head_size == 0) block.head_size = kHeadSize;
  if (!reader.Size("decoder_layers", {"num_decoder_layers"}, false, config.decoder_layers)) {
    config.decoder_layers = block.layers;
  }
  reader.Size("relative_buckets", {"relative_attention_num_buckets"}, false,
              config.relative_buckets);
  reader.Size("encoder_sequence", {"encoder_seq", "encoder_seq_length"}, false,
              config.encoder_sequence);
  reader.Size("decoder_sequence", {"decoder_seq", "decoder_seq_length"}, false,
              config.decoder_sequence);
  const bool is_switch = std::string_view(family.model_type) == "switch_transformers";
  if (is_switch) {
    int64_t experts = 0;
    reader.Size("experts", {"num_experts"}, true, experts);
    block.moe = SwitchSide(reader, "num_sparse_encoder_layers", block.layers, experts);
    config.decoder_moe =
        SwitchSide(reader, "num_sparse_decoder_layers", config.decoder_layers, experts);
    block.family = family.model_type;
  } else {
    for (const char* key : kExperts) Refuse(reader, key, "a T5 without it");
  }
  reader.ThrowIfMissing();
  ReadSwitches(reader, block);
  bool drops = block.hidden_dropout;
  reader.Dropout({"dropout_rate"}, drops);
  block.attention_dropout = block.hidden_dropout = drops;
  ReadFeedForward(reader, block);
  config = Completed(config);
  reader.ThrowFirst(FindErrors(config));
  return config;
}

}  // namespace stagecraft::hf_config_keys
