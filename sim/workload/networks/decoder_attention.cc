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

// One weight per feature of a head, for queries and for keys.
Operator QueryKeyNorm(const DecoderConfig& config) {
  Operator op =
      NormOperator(config, "qk_norm", (config.heads + config.kv_heads) * config.head_size);
  op.split = Split::kColumn;
  op.parameters = 2 * config.head_size * (config.norm_bias ? 2 : 1);
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

size_t AddLatentQueries(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const int64_t query = config.heads * config.mla.QuerySize();
  const int64_t rank = config.mla.query_rank;
  if (rank == 0) {
    return layer.Add(LinearOperator("query", Split::kColumn, config.hidden, query, false), {input});
  }
  const size_t down = layer.Add(
      LinearOperator("query_down", Split::kTokens, config.hidden, rank, config.qkv_bias), {input});
  const size_t norm = layer.Add(NormOperator(config, "query_norm", rank), {down});
  return layer.Add(LatentUp("query_up", rank, query), {norm});
}

}  // namespace

size_t AddAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                    LayerBuilder& layer) {
  const int64_t query = config.heads * config.head_size;
  const int64_t key = config.kv_heads * config.head_size;
  const size_t qkv = layer.Add(
      LinearOperator("qkv", Split::kColumn, config.hidden, query + 2 * key, config.qkv_bias),
      {input});
  size_t last = qkv;
  if (config.qk_norm) last = layer.Add(QueryKeyNorm(config), {last});
  if (config.rotary_fraction > 0) last = layer.Add(Rotary(config), {last});
  const size_t attention = layer.Add(AttentionOperator(config, backend, query, key, key), {last});
  // Values bypass norm and rotation.
  if (last != qkv) layer.AddEdge(qkv, attention);
  return layer.Add(
      LinearOperator("projection", Split::kRow, query, config.hidden, config.projection_bias),
      {attention});
}

size_t AddLatentAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                          LayerBuilder& layer) {
  const MlaConfig& mla = config.mla;
  const int64_t query = config.heads * mla.QuerySize();
  const int64_t value = config.heads * mla.value_size;
  const size_t queries = AddLatentQueries(config, input, layer);
  const size_t down = layer.Add(LinearOperator("kv_down", Split::kTokens, config.hidden,
                                               mla.kv_rank + mla.rotary_size, config.qkv_bias),
                                {input});
  layer[down].saved.clear();  // the queries' projection keeps the same tensor
  const size_t norm = layer.Add(NormOperator(config, "kv_norm", mla.kv_rank), {down});
  const size_t up =
      layer.Add(LatentUp("kv_up", mla.kv_rank, config.heads * mla.plain_size + value), {norm});
  const size_t rotary = layer.Add(LatentRotary(config), {queries, down, up});
  const size_t attention =
      layer.Add(AttentionOperator(config, backend, query, query, value), {rotary, up});
  return layer.Add(
      LinearOperator("projection", Split::kRow, value, config.hidden, config.projection_bias),
      {attention});
}

}  // namespace stagecraft
