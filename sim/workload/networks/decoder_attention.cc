#include "sim/workload/attention_window.h"
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

Operator Rotary(const DecoderConfig& config) {
  const int64_t rotated =
      static_cast<int64_t>(config.rotary_fraction * static_cast<double>(config.head_size));
  const int64_t heads = config.heads + config.kv_heads;
  const int64_t features = heads * config.head_size;
  Operator op = ElementwiseOperator("rotary", Split::kColumn, features, features);
  // Reads and writes the rotated part of queries and keys, both ways.
  op.forward_elements = op.backward_elements = 2 * heads * rotated;
  op.chain = KernelChain::kRotation;
  op.kernels = 2;
  return op;
}

// The weights of the norms of queries and of keys, without biases.
int64_t QueryKeyWeightCount(const DecoderConfig& config) {
  switch (config.qk_weights) {
    case QueryKeyWeights::kHead:
      return 2 * config.head_size;
    case QueryKeyWeights::kAllHeads:
      return (config.heads + config.kv_heads) * config.head_size;
    case QueryKeyWeights::kNone:
      break;
  }
  return 0;
}

Operator QueryKeyNorm(const DecoderConfig& config) {
  Operator op =
      NormOperator(config, "qk_norm", (config.heads + config.kv_heads) * config.head_size);
  op.split = Split::kColumn;
  op.parameters = QueryKeyWeightCount(config) * (config.norm_bias ? 2 : 1);
  op.kernels = 2;
  op.saved.front().split = Split::kColumn;
  return op;
}

// Rotates part of every query and of the keys, and writes whole keys: their plain part with a copy
// of the rotated part for each head.
Operator LatentRotary(const DecoderConfig& config) {
  const MlaConfig& mla = config.mla;
  const int64_t features = 2 * config.heads * mla.QuerySize();
  Operator op = ElementwiseOperator("rotary", Split::kColumn, features, features);
  const int64_t queries = 2 * config.heads * mla.rotary_size;
  const int64_t keys = config.heads * (mla.plain_size + mla.QuerySize());
  op.forward_elements = op.backward_elements = queries + keys;
  op.kernels = 3;
  op.part = BlockPart::kLatentUp;
  return op;
}

// Returns a projection that the backward can compute again from the small vector.
Operator LatentUp(std::string name, int64_t rank, int64_t out) {
  Operator op = LinearOperator(std::move(name), Split::kColumn, rank, out, false);
  op.part = BlockPart::kLatentUp;
  return op;
}

// Queries, and what an indexer reads: the small vector from which they are made.
struct LatentQueries {
  size_t queries = 0;
  size_t small = 0;
};

LatentQueries AddLatentQueries(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const int64_t query = config.heads * config.mla.QuerySize();
  const int64_t rank = config.mla.query_rank;
  if (rank == 0) {
    const size_t queries =
        layer.Add(LinearOperator("query", Split::kColumn, config.hidden, query, false), {input});
    return {queries, queries};
  }
  const size_t down = layer.Add(
      LinearOperator("query_down", Split::kTokens, config.hidden, rank, config.qkv_bias), {input});
  const size_t norm = layer.Add(NormOperator(config, "query_norm", rank), {down});
  return {layer.Add(LatentUp("query_up", rank, query), {norm}), norm};
}

// Whether a block with this mixer rotates queries and keys; those that do not have no norm of them
// either if it is without weights (Llama-4).
bool Rotates(const DecoderConfig& config, Mixer mixer) {
  return config.rotary_fraction > 0 &&
         !(mixer == Mixer::kAttention && config.window.rotates_windows_only);
}

// The sigmoid of a projection times the output of attention, in one kernel.
Operator AttentionGate(int64_t features) {
  Operator op = ElementwiseOperator("attention_gate", Split::kColumn, 2 * features, features);
  op.forward_elements = 3 * features;
  op.backward_elements = 5 * features;  // reads both and dy, writes both gradients
  op.saved = {{.name = "attention_output", .features = features, .split = Split::kColumn},
              {.name = "gate", .features = features, .split = Split::kColumn}};
  return op;
}

// The products of small queries with one small key of every token, which are half of attention of
// heads of half the size. All ranks of a tensor group have all of them.
size_t AddIndexer(const DecoderConfig& config, size_t input, size_t queries, LayerBuilder& layer) {
  const IndexerConfig& indexer = config.indexer;
  const int64_t features = indexer.heads * indexer.head_size;
  const auto add = [&](std::string name, int64_t in, int64_t out, size_t from) {
    Operator op = LinearOperator(std::move(name), Split::kTokens, in, out, false);
    op.saved.clear();  // the projections of attention keep the same tensors
    return layer.Add(std::move(op), {from});
  };
  const size_t query = add("indexer_query", config.mla.query_rank, features, queries);
  const size_t key = add("indexer_key", config.hidden, indexer.head_size, input);
  Operator key_norm = NormOperator(config, "indexer_key_norm", indexer.head_size);
  key_norm.parameters = 2 * indexer.head_size;  // a layer norm
  const size_t norm = layer.Add(std::move(key_norm), {key});
  const size_t weights = add("indexer_weights", config.hidden, indexer.heads, input);
  Operator op{.name = "indexer", .kind = OperatorKind::kAttention, .split = Split::kTokens};
  op.heads = static_cast<int>(indexer.heads);
  op.kv_heads = 1;
  op.head_size = static_cast<int>((indexer.head_size + 1) / 2);
  op.causal = true;
  op.in_features = features + indexer.head_size + indexer.heads;
  op.out_features = indexer.keys;
  op.saved = {{.name = "query", .features = features},
              {.name = "key", .features = indexer.head_size},
              {.name = "weights", .features = indexer.heads}};
  return layer.Add(std::move(op), {query, norm, weights});
}

}  // namespace

size_t AddAttention(const DecoderConfig& config, AttentionBackend backend, Mixer mixer,
                    size_t input, LayerBuilder& layer) {
  const int64_t query = config.heads * config.head_size;
  const int64_t key = config.kv_heads * config.head_size;
  const int64_t gate = config.gated_attention ? query : 0;
  const size_t qkv = layer.Add(
      LinearOperator("qkv", Split::kColumn, config.hidden, query + gate + 2 * key, config.qkv_bias),
      {input});
  size_t last = qkv;
  const bool rotates = Rotates(config, mixer);
  const bool has_weights = config.qk_weights != QueryKeyWeights::kNone;
  if (config.qk_norm && (rotates || has_weights)) last = layer.Add(QueryKeyNorm(config), {last});
  if (rotates) last = layer.Add(Rotary(config), {last});
  Operator attends = AttentionOperator(config, backend, query, key, key);
  if (mixer == Mixer::kWindow) {
    const WindowConfig& window = config.window;
    SetWindow(window.keys, window.is_chunked ? WindowKind::kChunked : WindowKind::kSliding,
              attends);
  }
  if (config.attention_sinks) attends.parameters = config.heads;
  size_t output = layer.Add(std::move(attends), {last});
  // Values bypass norm and rotation.
  if (last != qkv) layer.AddEdge(qkv, output);
  if (gate > 0) output = layer.Add(AttentionGate(query), {qkv, output});
  return layer.Add(
      LinearOperator("projection", Split::kRow, query, config.hidden, config.projection_bias),
      {output});
}

size_t AddLatentAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                          LayerBuilder& layer) {
  const MlaConfig& mla = config.mla;
  const int64_t query = config.heads * mla.QuerySize();
  const int64_t value = config.heads * mla.value_size;
  const auto [queries, small_queries] = AddLatentQueries(config, input, layer);
  const size_t down = layer.Add(LinearOperator("kv_down", Split::kTokens, config.hidden,
                                               mla.kv_rank + mla.rotary_size, config.qkv_bias),
                                {input});
  layer[down].saved.clear();  // the queries' projection keeps the same tensor
  const size_t norm = layer.Add(NormOperator(config, "kv_norm", mla.kv_rank), {down});
  const size_t up =
      layer.Add(LatentUp("kv_up", mla.kv_rank, config.heads * mla.plain_size + value), {norm});
  const size_t rotary = layer.Add(LatentRotary(config), {queries, down, up});
  Operator attends = AttentionOperator(config, backend, query, query, value);
  size_t attention = 0;
  if (config.indexer.heads > 0) {
    SetWindow(config.indexer.keys, WindowKind::kSliding, attends);
    const size_t selected = AddIndexer(config, input, small_queries, layer);
    attention = layer.Add(std::move(attends), {rotary, up, selected});
  } else {
    attention = layer.Add(std::move(attends), {rotary, up});
  }
  return layer.Add(
      LinearOperator("projection", Split::kRow, value, config.hidden, config.projection_bias),
      {attention});
}

}  // namespace stagecraft
