#include "tools/validation/row_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

constexpr std::string_view kDecoders[] = {"gpt", "llama", "nemotron", "internlm", "mpt", "opt"};
constexpr std::string_view kImages[] = {"resnet18",  "resnet50", "resnet101", "unet",
                                        "amoebanet", "ssd300",   "yolov3"};
constexpr std::string_view kUtterances[] = {"deepspeech2"};
constexpr std::string_view kSentences[] = {"gnmt", "transformer", "transformer-xl"};

template <size_t n>
bool IsOneOf(const std::string& name, const std::string_view (&names)[n]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Sets the sizes that the row states; the family has set everything else.
void SetSizes(const MeasuredRow& row, DecoderConfig& config) {
  config.layers = row.layers;
  config.hidden = row.hidden;
  config.heads = row.heads;
  config.kv_heads = row.kv_heads;
  config.ffn = row.ffn;
  config.vocab = row.vocab;
  config.max_sequence = std::max({row.seq, row.encoder_seq, row.decoder_seq});
  if (!row.tied_embeddings.empty()) config.tied_embeddings = row.tied_embeddings == "yes";
  if (row.activation == "swiglu") {
    config.gated_mlp = true;
    config.activation = Activation::kSilu;
  }
}

RowNetwork BuildBert(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  EncoderConfig config = EncoderOfFamily(completed.megatron_layers ? "megatron_bert" : "bert");
  SetSizes(row, config.block);
  config.block = Completed(config.block);
  config.head = RowHead(completed);
  return {NetworkFamily::kEncoder, config.block,
          BuildEncoder(config, RowAttention(row).backend, row.model_kind)};
}

RowNetwork BuildT5(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  EncoderDecoderConfig config =
      EncoderDecoderOfFamily(completed.megatron_layers ? "megatron_t5" : "t5");
  SetSizes(row, config.block);
  if (row.encoder_layers > 0) config.block.layers = row.encoder_layers;
  config.decoder_layers = row.decoder_layers;
  config.encoder_sequence = row.encoder_seq;
  config.decoder_sequence = row.decoder_seq;
  config = Completed(config);
  RowNetwork network{NetworkFamily::kEncoderDecoder, config.block,
                     BuildEncoderDecoder(config, RowAttention(row).backend, row.model_kind)};
  return network;
}

struct MixtureConfig {
  std::string name;
  NetworkConfig config;
};

MixtureConfig LoadMixture(const MeasuredRow& row, const RowFacts& facts) {
  const std::string name = MixtureName(row, facts);
  const std::vector<std::string> names = WorkloadNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError(name.empty() ? "the mixture of experts is not named"
                                  : "mixture of experts " + name + " is not known");
  }
  MixtureConfig mixture{name, LoadNetworkConfig(name)};
  const auto* decoder = std::get_if<DecoderConfig>(&mixture.config);
  const auto* both = std::get_if<EncoderDecoderConfig>(&mixture.config);
  const bool has_experts = decoder != nullptr ? decoder->moe.experts > 0
                                              : both != nullptr && both->decoder_moe.experts > 0;
  if (!has_experts) throw InputError(name + " is no mixture of experts");
  return mixture;
}

// Tables cut networks to fewer layers to run them on fewer GPUs, and train them with vocabularies
// of other sizes.
RowNetwork BuildMixture(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  auto [name, config] = LoadMixture(row, completed.facts);
  if (auto* decoder = std::get_if<DecoderConfig>(&config)) {
    decoder->layers = row.layers;
    decoder->vocab = row.vocab;
    decoder->max_sequence = std::max(decoder->max_sequence, row.seq);
  } else if (auto* both = std::get_if<EncoderDecoderConfig>(&config)) {
    both->block.vocab = row.vocab;
  }
  return {NetworkFamily::kMixture, DecoderConfig(),
          BuildNetwork(config, RowAttention(row).backend, name)};
}

RowNetwork BuildClassicRow(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  std::optional<Workload> workload =
      BuildClassic(ClassicName(row.model_kind, completed.facts), RowAttention(row).backend);
  if (!workload.has_value()) {
    throw InputError("model kind " + row.model_kind + " is not simulated");
  }
  return {NetworkFamily::kClassic, DecoderConfig(), std::move(*workload)};
}

}  // namespace

std::optional<NetworkFamily> FamilyOfKind(const std::string& model_kind) {
  if (IsOneOf(model_kind, kDecoders)) return NetworkFamily::kDecoder;
  if (model_kind == "bert") return NetworkFamily::kEncoder;
  if (model_kind == "t5") return NetworkFamily::kEncoderDecoder;
  if (IsMixture(model_kind)) return NetworkFamily::kMixture;
  if (!IsOneToken(model_kind) && !IsOneOf(model_kind, kSentences)) return std::nullopt;
  const std::vector<std::string> names = ClassicNames();
  const bool is_there =
      std::find(names.begin(), names.end(), ClassicName(model_kind, RowFacts())) != names.end();
  return is_there ? std::optional(NetworkFamily::kClassic) : std::nullopt;
}

std::string ClassicName(const std::string& model_kind, const RowFacts& facts) {
  if (facts.network) return *facts.network;
  if (model_kind == "resnet18") return "resnet18-cifar";
  if (model_kind == "amoebanet") return "amoebanet-d";
  if (model_kind == "gnmt") return "gnmt-8";  // 4 layers in each of encoder and decoder
  if (model_kind == "transformer") return "transformer-base";
  if (model_kind == "transformer-xl") return "transformer-xl-base";
  return model_kind;
}

std::string MixtureName(const MeasuredRow& row, const RowFacts& facts) {
  if (facts.network) return *facts.network;
  std::string name;
  for (const char c : row.model.substr(0, row.model.find('('))) {
    const bool is_gap = c == ' ' || c == '_' || c == '-';
    if (is_gap && (name.empty() || name.back() == '-')) continue;
    name += is_gap ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

void FillMixture(const RowFacts& facts, MeasuredRow& row) {
  const MixtureConfig mixture = LoadMixture(row, facts);
  const auto* decoder = std::get_if<DecoderConfig>(&mixture.config);
  const bool is_decoder = decoder != nullptr;
  const DecoderConfig& block =
      is_decoder ? *decoder : std::get<EncoderDecoderConfig>(mixture.config).block;
  const auto fill = [&](const char* column, int64_t& stated, int64_t own, bool may_differ) {
    if (stated == 0) stated = own;
    if (stated == own || may_differ) return;
    throw InputError(
        fmt::format("{} {} contradicts the {} of {}", column, stated, own, mixture.name));
  };
  fill("layers", row.layers, block.layers, is_decoder);
  fill("hidden", row.hidden, block.hidden, false);
  fill("heads", row.heads, block.heads, false);
  if (row.vocab == 0) row.vocab = facts.vocabulary.value_or(block.vocab);
}

bool IsOneToken(const std::string& model_kind) {
  return IsOneOf(model_kind, kImages) || IsOneOf(model_kind, kUtterances);
}

EncoderHead RowHead(const CompletedRow& completed) {
  const bool has_spans = completed.facts.span_head.value_or(false);
  const bool is_span = has_spans || completed.row.forward_only == "yes";
  return is_span ? EncoderHead::kSpan : EncoderHead::kPretraining;
}

DType RowPrecision(const MeasuredRow& row) {
  if (row.dtype == "mxfp8") return DType::kFp8;
  for (const DType type :
       {DType::kFp32, DType::kTf32, DType::kFp16, DType::kBf16, DType::kFp8, DType::kNvfp4}) {
    if (row.dtype == Name(type)) return type;
  }
  throw InputError(row.dtype.empty() ? "number format is not stated"
                                     : "number format " + row.dtype + " is not simulated");
}

AttentionChoice RowAttention(const MeasuredRow& row) {
  const std::optional<AttentionChoice> choice = FindAttention(row.attention_backend);
  if (!choice) throw InputError("attention " + row.attention_backend + " is not simulated");
  return *choice;
}

DecoderConfig RowDecoder(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  DecoderConfig config = DecoderOfFamily(row.model_kind);
  SetSizes(row, config);
  config.qk_norm = config.qk_norm || completed.facts.qk_norm.value_or(false);
  return Completed(config);
}

RowNetwork BuildRowNetwork(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  switch (FamilyOfKind(row.model_kind).value()) {
    case NetworkFamily::kDecoder: {
      const DecoderConfig config = RowDecoder(completed);
      return {NetworkFamily::kDecoder, config,
              BuildDecoder(config, RowAttention(row).backend, row.model_kind)};
    }
    case NetworkFamily::kEncoder:
      return BuildBert(completed);
    case NetworkFamily::kEncoderDecoder:
      return BuildT5(completed);
    case NetworkFamily::kMixture:
      return BuildMixture(completed);
    case NetworkFamily::kClassic:
      break;
  }
  return BuildClassicRow(completed);
}

}  // namespace stagecraft
