// Transformer-XL (Dai et al. 2019) on WikiText-103, as NVIDIA's
// DeepLearningExamples has it: attention over a segment and the one before,
// with relative positions, and adaptive embeddings and softmax.
#include <array>
#include <utility>
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

// Words in each cluster, by frequency; the first cluster's logits include one per further cluster.
constexpr std::array<int64_t, 4> kClusters = {19'997, 20'000, 160'000, 67'738};
constexpr int64_t kVocabulary = 267'735;
// Of 64 rows, those whose target is in a cluster. An estimate: only the first cluster's share, over
// nine tenths, is known well, and it has most of the work.
constexpr std::array<int64_t, 4> kRowsOf64 = {64, 2, 2, 1};

Tensor Rows(int64_t channels) { return {-1, channels, 0, 0}; }

// There are projections only if the widths of clusters differ.
int64_t ProjectionParameters(const TransformerXlConfig& config) {
  if (config.width_divisor == 1) return 0;
  int64_t parameters = 0;
  int64_t width = config.hidden;
  for (size_t c = 0; c < kClusters.size(); ++c, width /= config.width_divisor) {
    parameters += config.hidden * width;
  }
  return parameters;
}

int64_t TableParameters(const TransformerXlConfig& config) {
  int64_t parameters = 0;
  int64_t width = config.hidden;
  for (const int64_t words : kClusters) {
    parameters += words * width;
    width /= config.width_divisor;
  }
  return parameters;
}

// Scores by position are a GEMM of their own, shifted into place and added; keys and values of the
// segment before are projected again.
Tensor Attend(NetworkBuilder& net, const TransformerXlConfig& config, Tensor x) {
  const int64_t hidden = config.hidden;
  const int64_t keys = 2 * config.segment;
  Operator qkv{.name = "qkv", .kind = OperatorKind::kLinear, .in_features = hidden};
  qkv.out_features = 3 * hidden;
  qkv.positions = keys;
  qkv.parameters = 3 * hidden * hidden;
  qkv.saved = {{"segments", hidden}};
  const Tensor projections = net.Emit(std::move(qkv), {x}, Rows(3 * hidden), {});
  Operator relative{.name = "relative", .kind = OperatorKind::kLinear, .in_features = hidden};
  relative.out_features = keys;  // heads x (hidden / heads) x keys
  relative.parameters = hidden * hidden;
  const Tensor by_position = net.Emit(std::move(relative), {projections}, Rows(keys), {});
  Operator shift{.name = "shift_and_add", .in_features = config.heads * keys};
  shift.forward_elements = 5 * config.heads * keys;
  shift.backward_elements = 2 * config.heads * keys;
  shift.kernels = 3;
  const Tensor shifted = net.Emit(std::move(shift), {by_position}, Rows(keys), {});
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .in_features = 3 * hidden};
  op.out_features = hidden;
  op.heads = op.kv_heads = static_cast<int>(config.heads);
  op.head_size = static_cast<int>(hidden / config.heads);
  op.keys = keys;
  op.kernels = 4;
  op.saved = {{"query_key_value", 2 * 3 * hidden},  // of both segments
              {.name = "softmax_output", .features = config.heads, .per_key = true},
              {"softmax_dropout_mask", config.heads, 1, Split::kTokens, true},
              {.name = "softmax_dropout_output", .features = config.heads, .per_key = true}};
  const Tensor context = net.Emit(std::move(op), {projections, shifted}, Rows(hidden), {});
  return net.Residual(net.Linear(context, hidden, /*bias=*/false), x);
}

Tensor Embed(NetworkBuilder& net, const TransformerXlConfig& config) {
  net.BeginLayer("embedding", LayerRole::kEmbedding);
  Operator op{.name = "embedding", .kind = OperatorKind::kEmbedding, .in_features = kVocabulary};
  // The two vectors added to queries are one pair for all layers.
  op.parameters = TableParameters(config) + ProjectionParameters(config) + 2 * config.hidden;
  op.forward_elements = 2 * config.hidden;
  op.backward_elements = 3 * config.hidden;
  return net.Dropout(net.Emit(std::move(op), {}, Rows(config.hidden), {}));
}

// The first cluster's projection belongs to the softmax, those of the others to the embedding.
Tensor Project(NetworkBuilder& net, Tensor x, int64_t width, int64_t rows, bool is_tied) {
  Operator op{.name = "projection", .kind = OperatorKind::kLinear, .in_features = x.channels};
  op.out_features = width;
  op.positions = rows;
  op.parameters = x.channels * width;
  if (is_tied) net.TieParameters(op.parameters);
  return net.Emit(std::move(op), {x}, {-1, width, rows, 1}, {x});
}

void AdaptiveSoftmax(NetworkBuilder& net, const TransformerXlConfig& config, Tensor x) {
  net.BeginLayer("head", LayerRole::kHead);
  int64_t width = config.hidden;
  for (size_t c = 0; c < kClusters.size(); ++c, width /= config.width_divisor) {
    const int64_t further = c == 0 ? static_cast<int64_t>(kClusters.size()) - 1 : 0;
    const int64_t words = kClusters[c] + further;
    const int64_t rows = config.segment * kRowsOf64[c] / kRowsOf64[0];
    const Tensor narrow =
        config.width_divisor == 1 ? x : Project(net, x, width, rows, /*is_tied=*/c > 0);
    Operator logits{.name = "logits", .kind = OperatorKind::kLinear, .in_features = width};
    logits.out_features = words;
    logits.positions = rows;
    logits.parameters = words * width + words;
    net.TieParameters(kClusters[c] * width);
    const Tensor row_logits = net.Emit(std::move(logits), {narrow}, {-1, words, rows, 1}, {narrow});
    net.Loss(row_logits);
  }
}

}  // namespace

Workload BuildTransformerXl(const std::string& name, const TransformerXlConfig& config) {
  NetworkBuilder net(name);
  Tensor x = Embed(net, config);
  for (int layer = 0; layer < config.layers; ++layer) {
    net.BeginLayer("block");
    x = Attend(net, config, x);
    const Tensor inner = net.Dropout(net.Relu(net.Linear(x, 4 * config.hidden)));
    x = net.Residual(net.Linear(inner, config.hidden), x);
  }
  x = net.Dropout(x);
  AdaptiveSoftmax(net, config, x);
  Workload workload = net.Finish(config.segment, config.hidden, kVocabulary);
  workload.attention = AttentionBackend::kUnfused;
  workload.tied_embeddings = true;
  return workload;
}

}  // namespace stagecraft
