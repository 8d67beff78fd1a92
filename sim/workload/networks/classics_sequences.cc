// GNMT and the Transformer, as translators.
#include <utility>
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"
#include "sim/workload/networks/classics_recurrent.h"

namespace stagecraft {
namespace {

constexpr int64_t kGnmtHidden = 1024;
// WMT English-German in byte pairs, padded to a multiple of 8 as in the
// published profiles (PipeDream: "Embedding(32320, 1024)").
constexpr int64_t kGnmtVocabulary = 32'320;
constexpr int64_t kGnmtLongest = 50;  // --train-max-length
// fairseq's joined dictionary of WMT'16 English-German.
constexpr int64_t kTransformerVocabulary = 32'768;
constexpr int64_t kTransformerLongest = 1024;
constexpr int kTransformerLayers = 6;

Tensor Rows(int64_t channels) { return {-1, channels, 0, 0}; }

Tensor Embed(NetworkBuilder& net, int64_t vocabulary, int64_t hidden) {
  Operator op{.name = "embedding", .kind = OperatorKind::kEmbedding, .in_features = vocabulary};
  op.parameters = vocabulary * hidden;
  op.forward_elements = 2 * hidden;
  op.backward_elements = 3 * hidden;
  return net.Emit(std::move(op), {}, Rows(hidden), {});
}

// Bahdanau's attention: scores are v·tanh(query + key). It is counted as a GEMM with heads as wide
// as the layer; the tanh of every pair is kept.
Tensor AdditiveAttention(NetworkBuilder& net, Tensor query, Tensor memory) {
  const int64_t width = query.channels;
  const Tensor q = net.Linear(query, width, /*bias=*/false);
  const Tensor k = net.Linear(memory, width, /*bias=*/false);
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .in_features = 3 * width};
  op.heads = op.kv_heads = 1;
  op.head_size = static_cast<int>(width);
  op.parameters = width + width + 1;  // v, the bias, and v's scale
  op.kernels = 5;
  op.saved = {{.name = "tanh", .features = width, .per_key = true},
              {.name = "softmax_output", .features = 1, .per_key = true}};
  return net.Emit(std::move(op), {q, k, memory}, Rows(width), {memory});
}

Tensor GnmtEncoder(NetworkBuilder& net, int layers) {
  net.BeginLayer("embedding", LayerRole::kEmbedding);
  Tensor x = net.Dropout(Embed(net, kGnmtVocabulary, kGnmtHidden));
  net.BeginLayer("encoder_bidirectional");
  const Tensor onward = Lstm(net, x, kGnmtHidden);
  const Tensor back = Lstm(net, x, kGnmtHidden);
  x = net.Concat({onward, back});
  net.BeginLayer("encoder");
  x = Lstm(net, net.Dropout(x), kGnmtHidden);
  for (int i = 2; i < layers; ++i) {
    net.BeginLayer("encoder");
    x = net.Add(Lstm(net, net.Dropout(x), kGnmtHidden), x);
  }
  return x;
}

Tensor GnmtDecoder(NetworkBuilder& net, Tensor memory, int layers, bool shares_embedding) {
  net.BeginLayer("decoder_attention");
  Tensor x = net.Dropout(Embed(net, kGnmtVocabulary, kGnmtHidden));
  if (shares_embedding) net.TieParameters(kGnmtVocabulary * kGnmtHidden);
  x = Lstm(net, x, kGnmtHidden);
  const Tensor context = AdditiveAttention(net, x, memory);
  for (int i = 1; i < layers; ++i) {
    net.BeginLayer("decoder");
    const Tensor out = Lstm(net, net.Dropout(net.Concat({x, context})), kGnmtHidden);
    x = i == 1 ? out : net.Add(out, x);
  }
  return x;
}

Tensor Attend(NetworkBuilder& net, const std::vector<Tensor>& projections, Tensor stream,
              int64_t heads, bool is_causal, AttentionBackend attention) {
  const int64_t hidden = stream.channels;
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .in_features = 3 * hidden};
  op.heads = op.kv_heads = static_cast<int>(heads);
  op.head_size = static_cast<int>(hidden / heads);
  op.causal = is_causal;
  if (attention == AttentionBackend::kFlash) {
    op.saved = {{"log_sum_exp", heads, 4}};
  } else {
    op.kernels = 3;
    op.saved = {{.name = "softmax_output", .features = heads, .per_key = true}};
  }
  const Tensor context = net.Emit(std::move(op), projections, Rows(hidden), projections);
  return net.Residual(net.Linear(context, hidden), stream);
}

Tensor FeedForward(NetworkBuilder& net, Tensor x) {
  const Tensor inner = net.Dropout(net.Relu(net.Linear(x, 4 * x.channels)));
  return net.Residual(net.Linear(inner, x.channels), x);
}

}  // namespace

Workload BuildGnmt(const std::string& name, int layers_per_side, bool shares_embedding) {
  NetworkBuilder net(name);
  const Tensor memory = GnmtEncoder(net, layers_per_side);
  const Tensor x = GnmtDecoder(net, memory, layers_per_side, shares_embedding);
  net.BeginLayer("head", LayerRole::kHead);
  net.Loss(net.Linear(x, kGnmtVocabulary));
  Workload workload = net.Finish(kGnmtLongest, kGnmtHidden, kGnmtVocabulary);
  workload.attention = AttentionBackend::kUnfused;  // no kernel fuses additive attention
  return workload;
}

Workload BuildTranslationTransformer(const std::string& name, int64_t hidden, int64_t heads,
                                     AttentionBackend attention) {
  NetworkBuilder net(name);
  const int64_t table = kTransformerVocabulary * hidden;
  net.BeginLayer("embedding", LayerRole::kEmbedding);
  Tensor memory = net.Dropout(Embed(net, kTransformerVocabulary, hidden));
  for (int layer = 0; layer < kTransformerLayers; ++layer) {
    net.BeginLayer("encoder");
    memory = Attend(net, {net.Linear(memory, 3 * hidden)}, memory, heads, false, attention);
    memory = FeedForward(net, memory);
  }
  net.BeginLayer("decoder_embedding");
  Tensor x = net.Dropout(Embed(net, kTransformerVocabulary, hidden));
  net.TieParameters(table);
  for (int layer = 0; layer < kTransformerLayers; ++layer) {
    net.BeginLayer("decoder");
    x = Attend(net, {net.Linear(x, 3 * hidden)}, x, heads, true, attention);
    const Tensor query = net.Linear(x, hidden);
    x = Attend(net, {query, net.Linear(memory, 2 * hidden)}, x, heads, false, attention);
    x = FeedForward(net, x);
  }
  net.BeginLayer("head", LayerRole::kHead);
  net.Loss(net.Linear(x, kTransformerVocabulary, /*bias=*/false));
  net.TieParameters(table);
  Workload workload = net.Finish(kTransformerLongest, hidden, kTransformerVocabulary);
  workload.tied_embeddings = true;
  workload.attention = attention;
  return workload;
}

}  // namespace stagecraft
