#include "sim/decoder.h"

#include <initializer_list>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// One byte per element of a dropout mask: half a 16-bit element.
int64_t MaskElements(int64_t features) { return features / 2; }

// Adds operators in execution order, each after the producers it names.
class LayerBuilder {
 public:
  LayerBuilder(std::string name, LayerRole role, int64_t boundary_features) {
    kind_.name = std::move(name);
    kind_.role = role;
    kind_.boundary_features = boundary_features;
  }
  size_t Add(Operator op, std::initializer_list<size_t> producers) {
    const size_t vertex = add_vertex(std::move(op), kind_.operators);
    for (const size_t producer : producers) add_edge(producer, vertex, kind_.operators);
    return vertex;
  }
  void AddEdge(size_t producer, size_t consumer) { add_edge(producer, consumer, kind_.operators); }
  Operator& operator[](size_t vertex) { return kind_.operators[vertex]; }
  LayerKind Take() { return std::move(kind_); }

 private:
  LayerKind kind_;
};

Operator Norm(const DecoderConfig& config, std::string name) {
  const int64_t hidden = config.hidden;
  Operator op{.name = std::move(name), .kind = OperatorKind::kNorm};
  op.in_features = op.out_features = hidden;
  op.parameters = hidden * (config.norm_bias ? 2 : 1);
  op.forward_elements = 2 * hidden;   // reads x, writes y
  op.backward_elements = 3 * hidden;  // reads x and dy, writes dx
  op.saved = {{.name = op.name + "_input", .features = hidden}};
  return op;
}

// A column-split product reads whole tokens, a row-split one its share of the
// features; the kept input is split alike.
Operator Linear(std::string name, Split split, int64_t in, int64_t out, bool bias) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kLinear, .split = split};
  op.in_features = in;
  op.out_features = out;
  op.parameters = in * out + (bias ? out : 0);
  op.saved = {{.name = op.name + "_input",
               .features = in,
               .split = split == Split::kRow ? Split::kColumn : Split::kTokens}};
  return op;
}

Operator Elementwise(std::string name, Split split, int64_t in, int64_t out) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kElementwise, .split = split};
  op.in_features = in;
  op.out_features = out;
  return op;
}

Operator Rotary(const DecoderConfig& config) {
  const int64_t rotated =
      static_cast<int64_t>(config.rotary_fraction * static_cast<double>(config.head_size));
  const int64_t features = (config.heads + config.kv_heads) * config.head_size;
  Operator op = Elementwise("rotary", Split::kColumn, features, features);
  // Reads and writes the rotated part of queries and keys, both ways.
  op.forward_elements = op.backward_elements = 2 * (config.heads + config.kv_heads) * rotated;
  op.kernels = 2;
  return op;
}

void KeepScores(const DecoderConfig& config, Operator& op) {
  const auto keep = [&](std::string name, int bytes) {
    op.saved.push_back({std::move(name), config.heads, bytes, Split::kColumn, true});
  };
  keep("softmax_output", 0);
  op.kernels = 3;  // scores, masked softmax, context
  if (config.attention_dropout) {
    keep("softmax_dropout_mask", 1);
    keep("softmax_dropout_output", 0);
    op.kernels = 4;
  }
}

Operator Attention(const DecoderConfig& config, AttentionBackend backend) {
  const int64_t query = config.heads * config.head_size;
  const int64_t key = config.kv_heads * config.head_size;
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .split = Split::kColumn};
  op.in_features = query + 2 * key;
  op.out_features = query;
  op.heads = static_cast<int>(config.heads);
  op.kv_heads = static_cast<int>(config.kv_heads);
  op.head_size = static_cast<int>(config.head_size);
  op.causal = true;
  op.saved = {{.name = "query", .features = query, .split = Split::kColumn},
              {.name = "key", .features = key, .split = Split::kColumn},
              {.name = "value", .features = key, .split = Split::kColumn}};
  if (backend == AttentionBackend::kUnfused) {
    KeepScores(config, op);
  } else {
    // Dropout inside the fused kernel keeps only the generator's state. The
    // output is kept once, as the input of the output projection.
    op.saved.push_back({"log_sum_exp", config.heads, 4, Split::kColumn, false});
  }
  return op;
}

Operator ActivationOperator(const DecoderConfig& config) {
  const int64_t ffn = config.ffn;
  const int64_t in = config.gated_mlp ? 2 * ffn : ffn;
  Operator op = Elementwise("activation", Split::kColumn, in, ffn);
  op.forward_elements = in + ffn;
  op.backward_elements = in + ffn + in;  // reads the input and dy, writes dx
  if (config.gated_mlp || config.activation != Activation::kRelu) {
    op.saved = {{.name = "activation_input", .features = in, .split = Split::kColumn}};
  }
  return op;
}

// Adds `branches` to the residual stream, dropping some of each out first.
Operator Residual(const DecoderConfig& config, std::vector<std::string> branches,
                  std::string name) {
  const int64_t hidden = config.hidden;
  const int64_t count = static_cast<int64_t>(branches.size());
  Operator op = Elementwise(std::move(name), Split::kTokens, hidden, hidden);
  // Forward sums the stream and its branches; backward sums the gradient of the
  // stream and those that come out of the branches.
  op.forward_elements = op.backward_elements = (count + 2) * hidden;
  if (!config.hidden_dropout) return op;
  op.forward_elements += count * MaskElements(hidden);
  op.backward_elements += count * (2 * hidden + MaskElements(hidden));
  for (const std::string& branch : branches) {
    op.saved.push_back({branch + "_dropout_mask", hidden, 1, Split::kTokens, false});
  }
  return op;
}

size_t AddAttention(const DecoderConfig& config, AttentionBackend backend, LayerBuilder& layer) {
  const int64_t query = config.heads * config.head_size;
  const int64_t key = config.kv_heads * config.head_size;
  const size_t norm = layer.Add(Norm(config, "attention_norm"), {});
  layer[norm].reads_layer_input = true;
  size_t last = layer.Add(
      Linear("qkv", Split::kColumn, config.hidden, query + 2 * key, config.qkv_bias), {norm});
  const size_t qkv = last;
  if (config.rotary_fraction > 0) last = layer.Add(Rotary(config), {qkv});
  const size_t attention = layer.Add(Attention(config, backend), {last});
  // Values go around the rotation.
  if (last != qkv) layer.AddEdge(qkv, attention);
  return layer.Add(Linear("projection", Split::kRow, query, config.hidden, config.projection_bias),
                   {attention});
}

size_t AddMlp(const DecoderConfig& config, size_t norm, LayerBuilder& layer) {
  const int64_t up_features = config.gated_mlp ? 2 * config.ffn : config.ffn;
  const size_t up = layer.Add(
      Linear("mlp_up", Split::kColumn, config.hidden, up_features, config.mlp_bias), {norm});
  const size_t activation = layer.Add(ActivationOperator(config), {up});
  return layer.Add(Linear("mlp_down", Split::kRow, config.ffn, config.hidden, config.mlp_bias),
                   {activation});
}

LayerKind Block(const DecoderConfig& config, AttentionBackend backend) {
  LayerBuilder layer("block", LayerRole::kBlock, config.hidden);
  const size_t projection = AddAttention(config, backend, layer);
  if (config.parallel_residual) {
    const size_t norm = layer.Add(Norm(config, "mlp_norm"), {});
    layer[norm].reads_layer_input = true;
    layer[norm].saved.clear();  // the attention norm keeps the same tensor
    const size_t down = AddMlp(config, norm, layer);
    const size_t sum =
        layer.Add(Residual(config, {"attention", "mlp"}, "residual"), {projection, down});
    layer[sum].reads_layer_input = true;
    return layer.Take();
  }
  const size_t middle =
      layer.Add(Residual(config, {"attention"}, "attention_residual"), {projection});
  layer[middle].reads_layer_input = true;
  const size_t norm = layer.Add(Norm(config, "mlp_norm"), {middle});
  const size_t down = AddMlp(config, norm, layer);
  layer.Add(Residual(config, {"mlp"}, "mlp_residual"), {middle, down});
  return layer.Take();
}

LayerKind Embedding(const DecoderConfig& config) {
  const int64_t hidden = config.hidden;
  LayerBuilder layer("embedding", LayerRole::kEmbedding, hidden);
  Operator tokens{
      .name = "token_embedding", .kind = OperatorKind::kEmbedding, .split = Split::kRow};
  tokens.in_features = config.vocab;
  tokens.out_features = hidden;
  tokens.parameters = config.vocab * hidden;
  tokens.forward_elements = 2 * hidden;   // reads a row, writes it
  tokens.backward_elements = 3 * hidden;  // adds the gradient to a row
  size_t last = layer.Add(std::move(tokens), {});
  if (config.learned_positions) {
    // Every rank holds the position table whole.
    Operator positions{.name = "position_embedding", .kind = OperatorKind::kEmbedding};
    positions.in_features = config.max_sequence;
    positions.out_features = hidden;
    positions.parameters = config.max_sequence * hidden;
    positions.forward_elements = positions.backward_elements = 3 * hidden;
    last = layer.Add(std::move(positions), {last});
  }
  if (config.hidden_dropout) {
    Operator dropout = Elementwise("embedding_dropout", Split::kTokens, hidden, hidden);
    dropout.forward_elements = dropout.backward_elements = 2 * hidden + MaskElements(hidden);
    dropout.saved = {{"embedding_dropout_mask", hidden, 1, Split::kTokens, false}};
    layer.Add(std::move(dropout), {last});
  }
  return layer.Take();
}

LayerKind Head(const DecoderConfig& config) {
  LayerBuilder layer("head", LayerRole::kHead, 0);
  const size_t norm = layer.Add(Norm(config, "final_norm"), {});
  layer[norm].reads_layer_input = true;
  const size_t logits = layer.Add(
      Linear("output_projection", Split::kColumn, config.hidden, config.vocab, false), {norm});
  Operator loss{.name = "loss", .kind = OperatorKind::kLoss, .split = Split::kColumn};
  loss.in_features = config.vocab;
  // Casts logits to fp32 (reads 1, writes 2), then a softmax that reads them
  // for the sum and again for the result (2 + 2) and writes it (2). Backward
  // turns the softmax into a gradient (2 + 2) and casts it (2 + 1).
  loss.forward_elements = 9 * config.vocab;
  loss.backward_elements = 7 * config.vocab;
  loss.kernels = 3;
  loss.saved = {{"softmax", config.vocab, 4, Split::kColumn, false}};
  layer.Add(std::move(loss), {logits});
  LayerKind kind = layer.Take();
  if (config.tied_embeddings) kind.tied_parameters = config.vocab * config.hidden;
  return kind;
}

}  // namespace

Workload BuildDecoder(const DecoderConfig& given, AttentionBackend attention, std::string name) {
  const DecoderConfig config = Completed(given);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(name + ": " + errors.front());
  Workload workload;
  workload.name = std::move(name);
  workload.kinds = {Embedding(config), Block(config, attention), Head(config)};
  workload.layers.assign(static_cast<size_t>(config.layers) + 2, 1);
  workload.layers.front() = 0;
  workload.layers.back() = 2;
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
