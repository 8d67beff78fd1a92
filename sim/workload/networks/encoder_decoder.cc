#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder_operators.h"
#include "sim/workload/networks/encoder.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxBuckets = 1'000'000;

EncoderDecoderConfig T5() {
  EncoderDecoderConfig config;
  config.block.norm = NormKind::kRms;
  config.block.activation = Activation::kRelu;
  config.block.tied_embeddings = true;
  config.block.attention_dropout = config.block.hidden_dropout = true;
  config.relative_buckets = 32;
  return config;
}

EncoderDecoderConfig MegatronT5() {
  EncoderDecoderConfig config;
  config.block = DecoderOfFamily("gpt");
  config.block.activation = Activation::kGelu;
  config.block.head_bias = true;
  return config;
}

class Builder {
 public:
  Builder(const EncoderDecoderConfig& config, AttentionBackend attention, std::string name)
      : config_(config),
        decoder_(config.block),
        encoder_(config.block),
        workload_(WorkloadFacts(config.block, attention, std::move(name))) {
    encoder_.causal = false;
    decoder_.moe = config.decoder_moe;
  }

  Workload Build() {
    LayerKind embedding = EmbeddingLayer(encoder_, "encoder_embedding", 0);
    AddBiasTable(encoder_, embedding.operators);
    SetPositions(embedding, config_.encoder_sequence);
    AddLayer(std::move(embedding));
    AddBlocks(encoder_, encoder_.layers, "encoder",
              [&](Mlp mlp, std::string kind) { return EncoderBlock(mlp, std::move(kind)); });
    AddLayer(DecoderEmbedding());
    AddBlocks(decoder_, config_.decoder_layers, "decoder",
              [&](Mlp mlp, std::string kind) { return DecoderBlock(mlp, std::move(kind)); });
    LayerKind head = HeadLayer(decoder_);
    SetPositions(head, config_.decoder_sequence);
    head.boundary_positions = 0;
    AddLayer(std::move(head));
    return std::move(workload_);
  }

 private:
  void AddLayer(LayerKind kind) {
    workload_.layers.push_back(static_cast<int>(workload_.kinds.size()));
    workload_.kinds.push_back(std::move(kind));
  }

  template <typename Make>
  void AddBlocks(const DecoderConfig& side, int64_t count, const std::string& name, Make make) {
    std::optional<int> kinds[2];  // by Mlp
    for (int64_t layer = 0; layer < count; ++layer) {
      const Mlp mlp = side.moe.IsSparse(layer) ? Mlp::kSparse : Mlp::kDense;
      std::optional<int>& kind = kinds[mlp == Mlp::kSparse];
      if (!kind.has_value()) {
        kind = static_cast<int>(workload_.kinds.size());
        workload_.kinds.push_back(
            make(mlp, name + (mlp == Mlp::kSparse ? "_moe_block" : "_block")));
      }
      workload_.layers.push_back(*kind);
    }
  }

  // Biases are looked up once per side and kept by every rank; adding them to
  // the scores is part of attention.
  void AddBiasTable(const DecoderConfig& side, OperatorGraph& operators) const {
    if (config_.relative_buckets == 0) return;
    Operator table{.name = "relative_positions", .kind = OperatorKind::kEmbedding};
    table.in_features = config_.relative_buckets;
    table.out_features = side.heads;
    table.parameters = config_.relative_buckets * side.heads;
    operators.Add(std::move(table));
  }

  LayerKind EncoderBlock(Mlp mlp, std::string name) const {
    LayerBuilder layer(std::move(name), LayerRole::kBlock, encoder_.hidden);
    AddOpSequence(encoder_, workload_.attention, {Mixer::kAttention, mlp}, kLayerInput, layer);
    LayerKind kind = layer.Take();
    SetPositions(kind, config_.encoder_sequence);
    return kind;
  }

  // Queries come from the decoder's tokens, keys and values from the encoder's output.
  size_t AddCrossAttention(size_t input, LayerBuilder& layer) const {
    const int64_t query = decoder_.heads * decoder_.head_size;
    const int64_t key = decoder_.kv_heads * decoder_.head_size;
    const size_t queries = layer.Add(
        LinearOperator("cross_query", Split::kColumn, decoder_.hidden, query, decoder_.qkv_bias),
        {input});
    Operator projection = LinearOperator("cross_key_value", Split::kColumn, decoder_.hidden,
                                         2 * key, decoder_.qkv_bias);
    projection.positions = config_.encoder_sequence;
    const size_t keys = layer.Add(std::move(projection), {kLayerInput});
    DecoderConfig both_ways = decoder_;
    both_ways.causal = false;
    Operator attention = AttentionOperator(both_ways, workload_.attention, query, key, key);
    attention.name = "cross_attention";
    attention.keys = config_.encoder_sequence;
    const size_t context = layer.Add(std::move(attention), {queries, keys});
    return layer.Add(LinearOperator("cross_projection", Split::kRow, query, decoder_.hidden,
                                    decoder_.projection_bias),
                     {context});
  }

  LayerKind DecoderBlock(Mlp mlp, std::string name) const {
    LayerBuilder layer(std::move(name), LayerRole::kBlock, 0);
    const size_t attended =
        AddResidualBranch(decoder_, "attention", kLayerInput, layer, [&](size_t input) {
          return AddAttention(decoder_, workload_.attention, Mixer::kAttention, input, layer);
        });
    const size_t crossed =
        AddResidualBranch(decoder_, "cross_attention", attended, layer,
                          [&](size_t input) { return AddCrossAttention(input, layer); });
    AddResidualBranch(decoder_, "mlp", crossed, layer,
                      [&](size_t input) { return AddMlp(decoder_, mlp, input, layer); });
    LayerKind kind = layer.Take();
    SetDecoderBoundary(kind);
    return kind;
  }

  LayerKind DecoderEmbedding() const {
    LayerKind kind = EmbeddingLayer(decoder_, "decoder_embedding", 0);
    kind.tied_parameters = decoder_.vocab * decoder_.embedding_size;
    // If positions are learned, Megatron-LM and Hugging Face share the table of positions, too.
    if (decoder_.learned_positions) {
      kind.tied_parameters += (decoder_.max_sequence + decoder_.position_offset) * decoder_.hidden;
    }
    AddBiasTable(decoder_, kind.operators);
    Operator norm = NormOperator(encoder_, "encoder_final_norm", encoder_.hidden);
    norm.positions = config_.encoder_sequence;
    norm.reads_layer_input = true;
    const size_t last = kind.operators.Add(std::move(norm));
    if (encoder_.hidden_dropout) {
      Operator dropout = DropoutOperator("encoder_final_dropout", encoder_.hidden);
      dropout.positions = config_.encoder_sequence;
      kind.operators.AddEdge(last, kind.operators.Add(std::move(dropout)));
    }
    SetDecoderBoundary(kind);
    return kind;
  }

  // The boundary has the rows of both sides if their number is known; otherwise its rows are twice
  // as wide.
  void SetDecoderBoundary(LayerKind& kind) const {
    const bool has_both = config_.encoder_sequence > 0 && config_.decoder_sequence > 0;
    kind.boundary_features = has_both ? decoder_.hidden : 2 * decoder_.hidden;
    kind.boundary_positions = has_both ? config_.encoder_sequence + config_.decoder_sequence : 0;
    SetPositions(kind, config_.decoder_sequence);
  }

  const EncoderDecoderConfig& config_;
  DecoderConfig decoder_;
  DecoderConfig encoder_;
  Workload workload_;
};

}  // namespace

EncoderDecoderConfig EncoderDecoderOfFamily(std::string_view family) {
  EncoderDecoderConfig config;
  if (family == "t5") {
    config = T5();
  } else if (family == "megatron_t5") {
    config = MegatronT5();
  } else {
    throw InputError("encoder-decoder family: got '" + std::string(family) +
                     "', want one of t5, megatron_t5");
  }
  config.block.family = family;
  return config;
}

EncoderDecoderConfig Completed(EncoderDecoderConfig config) {
  config.block = Completed(config.block);
  if (config.decoder_layers == 0) config.decoder_layers = config.block.layers;
  if (config.decoder_moe.experts > 0 && config.decoder_moe.ffn == 0) {
    config.decoder_moe.ffn = config.block.ffn;
  }
  return config;
}

std::vector<std::string> FindErrors(const EncoderDecoderConfig& config) {
  DecoderConfig decoder = config.block;
  decoder.moe = config.decoder_moe;
  decoder.layers = config.decoder_layers;
  std::vector<std::string> errors = FindErrors(config.block);
  if (errors.empty()) errors = FindErrors(decoder);
  const auto check = [&](const char* name, int64_t value, int64_t high) {
    if (value >= 0 && value <= high) return;
    errors.push_back(std::string(name) + ": got " + std::to_string(value) + ", want 0 to " +
                     std::to_string(high));
  };
  check("relative_buckets", config.relative_buckets, kMaxBuckets);
  constexpr int64_t kMaxSequence = 1'000'000'000;
  check("encoder_sequence", config.encoder_sequence, kMaxSequence);
  check("decoder_sequence", config.decoder_sequence, kMaxSequence);
  if (config.encoder_sequence == 0 && config.decoder_sequence != 0) {
    errors.push_back("decoder_sequence: got " + std::to_string(config.decoder_sequence) +
                     ", want 0 if encoder_sequence is 0 (the plan's)");
  }
  return errors;
}

Workload BuildEncoderDecoder(const EncoderDecoderConfig& given, AttentionBackend attention,
                             std::string name) {
  const EncoderDecoderConfig config = Completed(given);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  return Builder(config, attention, std::move(name)).Build();
}

}  // namespace stagecraft
