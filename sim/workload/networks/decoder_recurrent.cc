// Blocks whose tokens are mixed by a recurrence over a state: a state space model or the gated
// delta rule. Kernels run them by chunks of the sequence as matrix products, within a chunk and
// through the state that is handed from chunk to chunk. Such products are those of attention to a
// fixed number of rows: per token and head, 4·head_size·rows FLOPs of which half score and half sum
// up. So they are operators of kind kAttention that are not causal, with as many `keys` as make the
// FLOPs of the algorithm; what contexts exchange for them is then a state, rows x head_size, of
// each head.
#include "costmodel/divide.h"
#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

// A causal convolution over the last tokens of each channel, with its activation: vector work,
// which is as long as what it moves.
Operator ShortConvolution(int64_t channels, int64_t window, bool has_bias) {
  Operator op = ElementwiseOperator("convolution", Split::kColumn, channels, channels);
  op.parameters = channels * (window + (has_bias ? 1 : 0));
  op.forward_elements = 2 * channels;   // reads x, writes y
  op.backward_elements = 3 * channels;  // reads x and dy, writes dx
  op.saved = {{.name = "convolution_input", .features = channels, .split = Split::kColumn}};
  return op;
}

// Normalises the output and weighs it by the gate, in one kernel.
Operator GatedNorm(const DecoderConfig& config, int64_t features, int64_t weights) {
  Operator op = NormOperator(config, "gated_norm", features);
  op.split = Split::kColumn;
  op.parameters = weights;
  op.forward_elements = 3 * features;   // reads x and the gate, writes y
  op.backward_elements = 5 * features;  // reads x, gate and dy, writes both gradients
  op.chain = KernelChain::kNone;
  op.saved.front().split = Split::kColumn;
  op.saved.push_back({.name = "gate", .features = features, .split = Split::kColumn});
  return op;
}

// `heads` heads of `head_size` attend to `rows` rows each.
Operator Recurrence(std::string name, int64_t heads, int64_t head_size, int64_t rows) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kAttention, .split = Split::kColumn};
  op.heads = op.kv_heads = static_cast<int>(heads);
  op.head_size = static_cast<int>(head_size);
  op.keys = rows;
  op.in_features = op.out_features = heads * head_size;
  return op;
}

// The products of B and C of each group within a chunk: for a token chunk·state products, which are
// those of scores alone, of half as many rows.
Operator SsmScores(const SsmConfig& ssm) {
  Operator op = Recurrence("ssm_scores", ssm.groups, ssm.state, DivideUp(ssm.chunk, 2));
  const int64_t features = ssm.groups * ssm.state;
  op.in_features = 2 * features;
  op.saved = {{.name = "query", .features = features, .split = Split::kColumn},
              {.name = "key", .features = features, .split = Split::kColumn}};
  return op;
}

// Dao and Gu, 2024, section 6.3, per token and head: within the chunk chunk·head_size products for
// the sums; into the state and out of it state·head_size each. The decay, the skip and the bias of
// time steps are a number per head.
Operator SsmScan(const SsmConfig& ssm) {
  Operator op =
      Recurrence("ssm_scan", ssm.heads, ssm.head_size, DivideUp(ssm.chunk, 2) + ssm.state);
  op.parameters = 3 * ssm.heads;
  op.saved = {{.name = "value", .features = ssm.Inner(), .split = Split::kColumn},
              {"time_steps", ssm.heads, 4, Split::kColumn, false}};
  return op;
}

// Yang et al., 2024, section 3.3, per token and value head: within the chunk three products of
// chunk x key_size (of keys with keys, and with queries, and of the keys that the inverse
// transforms) and two of chunk x value_size, and three of key_size x value_size with the state. The
// inverse of a triangular matrix of chunk x chunk is left out, which has less than 2 % of these
// FLOPs.
Operator DeltaRule(const DeltaConfig& delta) {
  const int64_t key = delta.key_size;
  const int64_t value = delta.value_size;
  const int64_t products = delta.chunk * (3 * key + 2 * value) + 3 * key * value;
  Operator op = Recurrence("delta_rule", delta.value_heads, value, DivideUp(products, 2 * value));
  op.in_features = 2 * delta.Keys() + delta.Values();
  op.parameters = 2 * delta.value_heads;  // decay, and the bias of time steps
  op.saved = {{.name = "query", .features = delta.Keys(), .split = Split::kColumn},
              {.name = "key", .features = delta.Keys(), .split = Split::kColumn},
              {.name = "value", .features = delta.Values(), .split = Split::kColumn},
              {"decay_and_rate", 2 * delta.value_heads, 4, Split::kColumn, false}};
  return op;
}

}  // namespace

size_t AddSsm(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const SsmConfig& ssm = config.ssm;
  const int64_t inner = ssm.Inner();
  const int64_t channels = inner + 2 * ssm.groups * ssm.state;
  const size_t all = layer.Add(LinearOperator("ssm_input", Split::kColumn, config.hidden,
                                              inner + channels + ssm.heads, false),
                               {input});
  const size_t convolved =
      layer.Add(ShortConvolution(channels, ssm.convolution, ssm.convolution_bias), {all});
  const size_t scores = layer.Add(SsmScores(ssm), {convolved});
  const size_t scan = layer.Add(SsmScan(ssm), {all, convolved, scores});
  const size_t norm = layer.Add(GatedNorm(config, inner, inner), {all, scan});
  return layer.Add(LinearOperator("ssm_output", Split::kRow, inner, config.hidden, false), {norm});
}

size_t AddDelta(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const DeltaConfig& delta = config.delta;
  const int64_t channels = 2 * delta.Keys() + delta.Values();
  const size_t all =
      layer.Add(LinearOperator("delta_input", Split::kColumn, config.hidden,
                               channels + delta.Values() + 2 * delta.value_heads, false),
                {input});
  const size_t convolved =
      layer.Add(ShortConvolution(channels, delta.convolution, /*has_bias=*/false), {all});
  const size_t rule = layer.Add(DeltaRule(delta), {all, convolved});
  const size_t norm = layer.Add(GatedNorm(config, delta.Values(), delta.value_size), {all, rule});
  return layer.Add(
      LinearOperator("delta_output", Split::kRow, delta.Values(), config.hidden, false), {norm});
}

}  // namespace stagecraft
