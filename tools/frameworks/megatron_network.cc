#include "tools/frameworks/megatron_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 32;
constexpr int kVocabularyMultiple = 128;  // --make-vocab-size-divisible-by
constexpr int64_t kGpt2Vocabulary = 50257;

class NetworkReader {
 public:
  NetworkReader(OptionReader& reader, const std::string& file, std::vector<std::string>& notes)
      : reader_(reader), file_(file), notes_(notes) {}

  DecoderConfig Run(int tensor_parallel, int64_t vocabulary) {
    config_.family = "megatron";
    ReadSizes();
    ReadMlp();
    ReadAttention();
    ReadPositions();
    ReadSwitches();
    ReadExperts();
    ReadVocabulary(tensor_parallel, vocabulary);
    for (const char* name : {"spec", "hybrid-layer-pattern", "hybrid-override-pattern"}) {
      reader_.IsNotSimulated(name, "layers of other kinds than a transformer's are not read");
    }
    reader_.IsNotSimulated("window-size", "attention is taken as wide as the sequence");
    const DecoderConfig complete = Completed(config_);
    const std::vector<std::string> errors = FindErrors(complete);
    if (!errors.empty()) throw InputError(file_ + ": " + errors[0]);
    return complete;
  }

 private:
  std::optional<int64_t> Size(const char* name, const char* what) {
    const std::optional<int64_t> size = reader_.Whole(name, 1, kMostSize);
    reader_.Became(name, fmt::format("network: {}", what));
    return size;
  }

  int64_t Needed(const char* name, const char* what) {
    const std::optional<int64_t> size = Size(name, what);
    if (size) return *size;
    throw InputError(fmt::format("{}: got no {}, want the {}", file_, name, what));
  }

  bool Switch(const char* name, const char* what) {
    reader_.Became(name, fmt::format("network: {}", what));
    return reader_.IsOn(name);
  }

  void ReadSizes() {
    config_.layers = Needed("num-layers", "number of layers");
    config_.hidden = Needed("hidden-size", "hidden size");
    config_.heads = Needed("num-attention-heads", "number of attention heads");
    const std::optional<int64_t> sequence = reader_.Whole("seq-length", 1, kMostOfABatch);
    const std::optional<int64_t> most = Size("max-position-embeddings", "longest sequence");
    config_.max_sequence = most.value_or(sequence.value_or(0));
    if (config_.max_sequence == 0) {
      throw InputError(file_ + ": got no seq-length, want the tokens of a sample");
    }
    config_.prediction_layers =
        Size("mtp-num-layers", "layers that predict further tokens").value_or(0);
  }

  void ReadMlp() {
    config_.gated_mlp = Switch("swiglu", "gated MLP with SiLU");
    config_.activation = config_.gated_mlp ? Activation::kSilu : Activation::kGelu;
    if (Switch("squared-relu", "squared ReLU")) config_.activation = Activation::kSquaredRelu;
    const std::optional<int64_t> ffn = Size("ffn-hidden-size", "inner size of the MLP");
    // arguments.py: with SwiGLU two thirds of four times the hidden size, in multiples of 64.
    constexpr int64_t kGrain = 64;
    const int64_t usual =
        config_.gated_mlp ? 4 * config_.hidden * 2 / 3 / kGrain * kGrain : 4 * config_.hidden;
    config_.ffn = ffn.value_or(std::max<int64_t>(usual, 1));
  }

  void ReadAttention() {
    const bool is_grouped = Switch("group-query-attention", "grouped queries");
    const std::optional<int64_t> groups = Size("num-query-groups", "key/value heads");
    if (is_grouped) {
      // arguments.py: the number of groups is one unless it is given.
      config_.kv_heads = groups.value_or(1);
    } else if (groups && *groups != config_.heads) {
      reader_.IsIrrelevant("num-query-groups", "it has no effect without group-query-attention");
    }
    config_.head_size = Size("kv-channels", "size of a head").value_or(0);
    config_.qk_norm = Switch("qk-layernorm", "norms of queries and keys");
    if (!Switch("multi-latent-attention", "latent attention")) return;
    // The defaults of MLATransformerConfig.
    config_.mla.query_rank = Size("q-lora-rank", "rank of queries").value_or(0);
    config_.mla.kv_rank = Size("kv-lora-rank", "rank of keys and values").value_or(512);
    config_.mla.plain_size =
        Size("qk-head-dim", "part of a head that is not rotated").value_or(128);
    config_.mla.rotary_size = Size("qk-pos-emb-head-dim", "part of a head that is").value_or(64);
    config_.mla.value_size = Size("v-head-dim", "size of a head of values").value_or(128);
    config_.head_size = 0;
    config_.kv_heads = 0;
    config_.qk_norm = false;  // its norms of latent vectors are there anyway
  }

  void ReadPositions() {
    static constexpr const char* kKinds[] = {"learned_absolute", "rope", "mrope", "yarn", "none",
                                             "relative"};
    std::string kind = reader_.Word("position-embedding-type", kKinds).value_or("learned_absolute");
    reader_.Became("position-embedding-type", "network: " + kind + " positions");
    if (Switch("use-rotary-position-embeddings", "rotary positions")) kind = "rope";
    if (Switch("no-position-embedding", "no learned positions") && kind == "learned_absolute") {
      kind = "none";
    }
    if (kind == "relative") reader_.Refuse("position-embedding-type", "learned, rotary or none");
    reader_.Became("rope-type", "network: rotary positions");
    const double share = reader_.Number("rotary-percent", 0, 1).value_or(1);
    reader_.Became("rotary-percent", "network: share of a head that is rotated");
    config_.learned_positions = kind == "learned_absolute";
    const bool is_rotated = kind == "rope" || kind == "mrope" || kind == "yarn";
    config_.rotary_fraction = is_rotated || config_.mla.kv_rank > 0 ? share : 0;
    if (config_.mla.kv_rank > 0) config_.learned_positions = false;
  }

  void ReadSwitches() {
    static constexpr const char* kNorms[] = {"LayerNorm", "RMSNorm"};
    const std::string norm = reader_.Word("normalization", kNorms).value_or("LayerNorm");
    reader_.Became("normalization", "network: " + norm);
    config_.norm = norm == "RMSNorm" ? NormKind::kRms : NormKind::kLayer;
    config_.norm_bias = config_.norm == NormKind::kLayer;
    const bool has_bias = !Switch("disable-bias-linear", "no biases");
    config_.projection_bias = config_.mlp_bias = config_.qkv_bias = has_bias;
    if (Switch("add-qkv-bias", "biases of queries, keys and values")) config_.qkv_bias = true;
    config_.tied_embeddings =
        !Switch("untie-embeddings-and-output-weights", "an output projection of its own");
    // arguments.py: both are 0.1 unless given.
    config_.attention_dropout = reader_.Number("attention-dropout", 0, 1).value_or(0.1) > 0;
    config_.hidden_dropout = reader_.Number("hidden-dropout", 0, 1).value_or(0.1) > 0;
    reader_.Became("attention-dropout",
                   config_.attention_dropout ? "network: dropout" : "network: no dropout");
    reader_.Became("hidden-dropout",
                   config_.hidden_dropout ? "network: dropout" : "network: no dropout");
  }

  void ReadExperts() {
    MoeConfig& moe = config_.moe;
    moe.experts = Size("num-experts", "experts").value_or(0);
    if (moe.experts == 0) {
      for (const char* name : {"moe-router-topk", "moe-ffn-hidden-size", "moe-layer-freq",
                               "moe-shared-expert-intermediate-size"}) {
        reader_.IsIrrelevant(name, "it has no effect without num-experts");
      }
      return;
    }
    moe.experts_per_token = Size("moe-router-topk", "experts of a token").value_or(2);
    moe.ffn = Size("moe-ffn-hidden-size", "inner size of an expert").value_or(config_.ffn);
    moe.shared_ffn =
        Size("moe-shared-expert-intermediate-size", "inner size of the shared expert").value_or(0);
    moe.shared_gate = Switch("moe-shared-expert-gate", "gate of the shared expert");
    moe.routing_bias = Switch("moe-router-enable-expert-bias", "a bias of each expert");
    moe.groups = Size("moe-router-num-groups", "groups of experts").value_or(1);
    moe.groups_per_token = Size("moe-router-group-topk", "groups of a token").value_or(moe.groups);
    if (moe.experts % moe.groups != 0) {
      reader_.Refuse("moe-router-num-groups",
                     fmt::format("a divisor of the {} experts", moe.experts));
    }
    if (moe.experts_per_token > moe.experts) {
      throw InputError(fmt::format("{}: moe-router-topk: got {}, want at most the {} experts",
                                   file_, moe.experts_per_token, moe.experts));
    }
    ReadDenseLayers();
  }

  void ReadDenseLayers() {
    const std::optional<std::string> text = reader_.Text("moe-layer-freq");
    if (!text) return;
    reader_.Became("moe-layer-freq", "network: which layers have experts");
    if (config_.layers > kMostLayers) return;  // an error that is found later
    const std::optional<int64_t> step = ParseNumber<int64_t>(*text);
    const std::vector<int64_t> list = PythonList(*text);
    if ((!step || *step < 1) && static_cast<int64_t>(list.size()) != config_.layers) {
      reader_.Refuse("moe-layer-freq",
                     fmt::format("a number above 0, or a list of {} zeros and ones such as "
                                 "([0]*3+[1]*{})",
                                 config_.layers, config_.layers - 3));
    }
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const bool is_sparse = step ? layer % *step == 0 : list[layer] != 0;
      if (!is_sparse) config_.moe.dense_layers.push_back(layer);
    }
  }

  void ReadVocabulary(int tensor_parallel, int64_t given) {
    const int64_t multiple =
        reader_.Whole("make-vocab-size-divisible-by", 1, 1 << 20).value_or(kVocabularyMultiple);
    reader_.Became("make-vocab-size-divisible-by", "network: padding of the vocabulary");
    const std::optional<int64_t> padded = Size("padded-vocab-size", "vocabulary, with padding");
    const std::optional<int64_t> plain = Size("vocab-size", "vocabulary");
    const std::string tokenizer = reader_.Text("tokenizer-type").value_or("");
    reader_.IsIrrelevant("tokenizer-type", "the vocabulary's size is what counts");
    if (padded && given == 0) {
      config_.vocab = *padded;
      return;
    }
    int64_t size = given > 0 ? given : plain.value_or(0);
    if (size == 0 && tokenizer == "GPT2BPETokenizer") {
      size = kGpt2Vocabulary;
      reader_.Became("tokenizer-type", fmt::format("network: vocabulary of {}", size));
    }
    if (size == 0) {
      throw InputError(fmt::format(
          "{}: got no vocab-size, and the files of the tokenizer are not read, want --vocab N",
          file_));
    }
    config_.vocab = PaddedVocabulary(size, tensor_parallel, static_cast<int>(multiple));
    if (config_.vocab != size) {
      notes_.push_back(fmt::format("the vocabulary of {} is padded to {}, a multiple of {} x tp {}",
                                   size, config_.vocab, multiple, tensor_parallel));
    }
  }

  OptionReader& reader_;
  const std::string& file_;
  std::vector<std::string>& notes_;
  DecoderConfig config_;
};

}  // namespace

std::vector<int64_t> PythonList(const std::string& text) {
  std::string rest;
  for (const char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c)) && c != '(' && c != ')') rest += c;
  }
  std::vector<int64_t> values;
  for (std::string_view part : SplitAt(std::string_view(rest), '+')) {
    if (!part.starts_with('[')) return {};
    const size_t close = part.find(']');
    if (close == part.npos) return {};
    std::vector<int64_t> list;
    for (const std::string_view number : SplitAt(part.substr(1, close - 1), ',')) {
      const std::optional<int64_t> value = ParseNumber<int64_t>(number);
      if (!value) return {};
      list.push_back(*value);
    }
    part.remove_prefix(close + 1);
    int64_t times = 1;
    if (part.starts_with('*')) times = ParseNumber<int64_t>(part.substr(1)).value_or(-1);
    if ((!part.empty() && !part.starts_with('*')) || times < 0 || times > kMostLayers) return {};
    if (times * static_cast<int64_t>(list.size()) > kMostLayers) return {};
    for (int64_t i = 0; i < times; ++i) values.insert(values.end(), list.begin(), list.end());
    if (static_cast<int64_t>(values.size()) > kMostLayers) return {};
  }
  return values;
}

DecoderConfig ReadMegatronNetwork(OptionReader& reader, const std::string& file,
                                  int tensor_parallel, int64_t vocabulary,
                                  std::vector<std::string>& notes) {
  return NetworkReader(reader, file, notes).Run(tensor_parallel, vocabulary);
}

}  // namespace stagecraft
