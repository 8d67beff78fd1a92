#include "sim/workload/networks/decoder_operators.h"

#include <algorithm>

namespace stagecraft {
namespace {

// One byte per element of a dropout mask: half a 16-bit element.
int64_t MaskElements(int64_t features) { return features / 2; }

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

// Whether the backward of an operator may read its output, which its reader keeps for both:
// attention's does, and that of an activation that keeps nothing itself (ReLU).
bool MayReadOutput(const Operator& op) {
  return op.kind == OperatorKind::kAttention ||
         (op.kind == OperatorKind::kElementwise && op.saved.empty());
}

}  // namespace

size_t LayerBuilder::Add(Operator op, std::initializer_list<size_t> producers) {
  const bool is_shared = std::any_of(producers.begin(), producers.end(), [&](size_t producer) {
    return producer != kLayerInput && MayReadOutput(kind_.operators[producer]);
  });
  for (SavedTensor& tensor : op.saved) {
    const bool is_operand = tensor.name == op.name + "_input";
    tensor.only_for_weights = op.kind == OperatorKind::kLinear && is_operand && !is_shared;
  }
  const size_t vertex = kind_.operators.Add(std::move(op));
  for (const size_t producer : producers) {
    if (producer == kLayerInput) {
      kind_.operators[vertex].reads_layer_input = true;
    } else {
      kind_.operators.AddEdge(producer, vertex);
    }
  }
  return vertex;
}

Operator NormOperator(const DecoderConfig& config, std::string name, int64_t features) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kNorm};
  op.in_features = op.out_features = features;
  op.parameters = features * (config.norm_bias ? 2 : 1);
  op.part = BlockPart::kNorm;
  op.forward_elements = 2 * features;   // reads x, writes y
  op.backward_elements = 3 * features;  // reads x and dy, writes dx
  if (config.norm == NormKind::kRms) op.chain = KernelChain::kRmsNorm;
  op.saved = {{.name = op.name + "_input", .features = features}};
  return op;
}

Operator LinearOperator(std::string name, Split split, int64_t in, int64_t out, bool bias) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kLinear, .split = split};
  op.in_features = in;
  op.out_features = out;
  op.parameters = in * out + (bias ? out : 0);
  op.saved = {{.name = op.name + "_input",
               .features = in,
               .split = split == Split::kRow ? Split::kColumn : Split::kTokens}};
  return op;
}

Operator ElementwiseOperator(std::string name, Split split, int64_t in, int64_t out) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kElementwise, .split = split};
  op.in_features = in;
  op.out_features = out;
  return op;
}

Operator TableOperator(std::string name, Split split, int64_t rows, int64_t features,
                       bool adds_to_input) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kEmbedding, .split = split};
  op.in_features = rows;
  op.out_features = features;
  op.parameters = rows * features;
  // Reads a row and, if it adds, the sum so far, and writes; backward adds the gradient to a row.
  op.forward_elements = (adds_to_input ? 3 : 2) * features;
  op.backward_elements = 3 * features;
  return op;
}

Operator AttentionOperator(const DecoderConfig& config, AttentionBackend backend, int64_t query,
                           int64_t key, int64_t value) {
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .split = Split::kColumn};
  op.in_features = query + key + value;
  op.heads = static_cast<int>(config.heads);
  op.kv_heads = static_cast<int>(config.kv_heads);
  op.out_features = config.heads * (value / config.kv_heads);
  op.head_size = static_cast<int>(config.head_size);
  op.causal = config.causal;
  op.saved = {{.name = "query", .features = query, .split = Split::kColumn},
              {.name = "key", .features = key, .split = Split::kColumn},
              {.name = "value", .features = value, .split = Split::kColumn}};
  if (backend == AttentionBackend::kUnfused) {
    KeepScores(config, op);
  } else {
    // Dropout inside the fused kernel keeps only the generator's state. The
    // output is kept once, as the input of the output projection.
    op.saved.push_back({"log_sum_exp", config.heads, 4, Split::kColumn, false});
  }
  return op;
}

Operator ActivationOperator(const DecoderConfig& config, std::string name, int64_t ffn,
                            int64_t rows) {
  const int64_t out = rows * ffn;
  const int64_t in = config.gated_mlp ? 2 * out : out;
  Operator op = ElementwiseOperator(std::move(name), Split::kColumn, in, out);
  op.part = BlockPart::kActivation;
  op.forward_elements = in + out;
  op.backward_elements = in + out + in;  // reads the input and dy, writes dx
  if (config.gated_mlp) {
    op.chain = KernelChain::kGatedActivation;
  } else if (config.activation == Activation::kTanhGelu) {
    op.chain = KernelChain::kTanhGelu;
  }
  if (config.gated_mlp || config.activation != Activation::kRelu) {
    op.saved = {{.name = op.name + "_input", .features = in, .split = Split::kColumn}};
  }
  return op;
}

Operator ResidualOperator(const DecoderConfig& config, const std::vector<std::string>& branches,
                          std::string name) {
  const int64_t hidden = config.hidden;
  const int64_t count = static_cast<int64_t>(branches.size());
  Operator op = ElementwiseOperator(std::move(name), Split::kTokens, hidden, hidden);
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

Operator DropoutOperator(std::string name, int64_t features) {
  Operator op = ElementwiseOperator(std::move(name), Split::kTokens, features, features);
  op.forward_elements = op.backward_elements = 2 * features + MaskElements(features);
  op.saved = {{op.name + "_mask", features, 1, Split::kTokens, false}};
  return op;
}

Operator LossOperator(std::string name, int64_t classes, bool is_capped) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kLoss, .split = Split::kColumn};
  op.in_features = classes;
  // Casts logits to fp32 (reads 1, writes 2), then a softmax that reads them
  // for the sum and again for the result (2 + 2) and writes it (2). Backward
  // turns the softmax into a gradient (2 + 2) and casts it (2 + 1).
  op.forward_elements = 9 * classes;
  op.backward_elements = 7 * classes;
  op.kernels = 3;
  op.saved = {{"softmax", classes, 4, Split::kColumn, false}};
  if (is_capped) {
    // The tanh reads and writes the logits; its backward reads what it wrote.
    op.forward_elements += 2 * classes;
    op.backward_elements += 3 * classes;
    op.kernels += 1;
    op.saved.push_back({"capped_logits", classes, 0, Split::kColumn, false});
  }
  return op;
}

}  // namespace stagecraft
