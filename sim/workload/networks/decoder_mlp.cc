#include <algorithm>

#include "sim/workload/networks/decoder_operators.h"

namespace stagecraft {
namespace {

void SetGroups(const MoeConfig& moe, Operator& op) {
  op.expert_groups = static_cast<int>(moe.groups);
  op.groups_per_token = static_cast<int>(moe.groups_per_token);
}

// One matrix for each expert; kept tensors hold a row for each expert that a token visits.
Operator ExpertLinear(const MoeConfig& moe, std::string name, Split split, int64_t in,
                      int64_t out) {
  Operator op = LinearOperator(std::move(name), split, in, out, moe.biases);
  op.parameters *= moe.experts;
  op.experts = static_cast<int>(moe.experts);
  op.experts_per_token = static_cast<int>(moe.experts_per_token);
  SetGroups(moe, op);
  op.saved.front().features *= moe.experts_per_token;
  return op;
}

Operator Exchange(const DecoderConfig& config, OperatorKind kind, std::string name) {
  Operator op{.name = std::move(name), .kind = kind};
  op.in_features = op.out_features = config.hidden;
  op.experts = static_cast<int>(config.moe.experts);
  op.experts_per_token = static_cast<int>(config.moe.experts_per_token);
  SetGroups(config.moe, op);
  return op;
}

// Scores, in 32 bits, become probabilities, of which the largest stay.
Operator Selection(const MoeConfig& moe) {
  Operator op = ElementwiseOperator("routing", Split::kTokens, moe.experts, moe.experts_per_token);
  op.parameters = moe.routing_bias ? moe.experts : 0;
  op.forward_elements = 6 * moe.experts;  // cast, softmax, selection
  op.backward_elements = 6 * moe.experts;
  op.kernels = 4;
  op.saved = {{"routing_probabilities", moe.experts, 4, Split::kTokens, false}};
  return op;
}

// Sorts rows by expert, with a copy for each expert that they visit; or sums the copies up again.
Operator Permutation(const DecoderConfig& config, std::string name) {
  Operator op = ElementwiseOperator(std::move(name), Split::kTokens, config.hidden, config.hidden);
  op.forward_elements = op.backward_elements = (1 + config.moe.experts_per_token) * config.hidden;
  return op;
}

// The rows' weights multiply the activation, inside its kernel (Megatron-Core),
// so that nothing of the experts' output is kept.
size_t AddExperts(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const MoeConfig& moe = config.moe;
  const int64_t up_features = config.gated_mlp ? 2 * moe.ffn : moe.ffn;
  Operator router =
      LinearOperator("router", Split::kTokens, config.hidden, moe.experts, moe.biases);
  const size_t scores = layer.Add(std::move(router), {input});
  const size_t routing = layer.Add(Selection(moe), {scores});
  const size_t sorted = layer.Add(Permutation(config, "permutation"), {input, routing});
  const size_t sent = layer.Add(Exchange(config, OperatorKind::kDispatch, "dispatch"), {sorted});
  const size_t up =
      layer.Add(ExpertLinear(moe, "expert_up", Split::kColumn, config.hidden, up_features), {sent});
  const size_t activation = layer.Add(
      ActivationOperator(config, "expert_activation", moe.ffn, moe.experts_per_token), {up});
  const size_t down = layer.Add(
      ExpertLinear(moe, "expert_down", Split::kRow, moe.ffn, config.hidden), {activation});
  const size_t received = layer.Add(Exchange(config, OperatorKind::kCombine, "combine"), {down});
  return layer.Add(Permutation(config, "unpermutation"), {received});
}

size_t AddSharedExpert(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const int64_t ffn = config.moe.shared_ffn;
  const int64_t up_features = config.gated_mlp ? 2 * ffn : ffn;
  Operator matrix =
      LinearOperator("shared_expert_up", Split::kColumn, config.hidden, up_features, false);
  matrix.saved.clear();  // the router keeps the same tensor
  const size_t up = layer.Add(std::move(matrix), {input});
  const size_t activation =
      layer.Add(ActivationOperator(config, "shared_expert_activation", ffn, 1), {up});
  return layer.Add(LinearOperator("shared_expert_down", Split::kRow, ffn, config.hidden, false),
                   {activation});
}

}  // namespace

bool MoeConfig::IsSparse(int64_t layer) const {
  return experts > 0 && !std::binary_search(dense_layers.begin(), dense_layers.end(), layer);
}

size_t AddDenseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const int64_t ffn = config.ffn;
  const int64_t up_features = config.gated_mlp ? 2 * ffn : ffn;
  const size_t up = layer.Add(
      LinearOperator("mlp_up", Split::kColumn, config.hidden, up_features, config.mlp_bias),
      {input});
  const size_t activation = layer.Add(ActivationOperator(config, "activation", ffn, 1), {up});
  return layer.Add(LinearOperator("mlp_down", Split::kRow, ffn, config.hidden, config.mlp_bias),
                   {activation});
}

size_t AddSparseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer) {
  const size_t routed = AddExperts(config, input, layer);
  const MoeConfig& moe = config.moe;
  if (moe.shared_ffn == 0) return routed;
  const size_t shared = AddSharedExpert(config, input, layer);
  const int64_t hidden = config.hidden;
  Operator sum = ElementwiseOperator("expert_sum", Split::kTokens, hidden, hidden);
  sum.forward_elements = 3 * hidden;
  sum.backward_elements = 0;  // both branches read the same gradient
  if (!moe.shared_gate) return layer.Add(std::move(sum), {routed, shared});
  Operator gate = LinearOperator("shared_expert_gate", Split::kTokens, hidden, 1, false);
  gate.saved.clear();  // the router keeps the same tensor
  const size_t weight = layer.Add(std::move(gate), {input});
  sum.backward_elements = 3 * hidden;
  sum.saved = {{"shared_expert_output", hidden, 0, Split::kTokens, false}};
  return layer.Add(std::move(sum), {routed, shared, weight});
}

size_t AddMlp(const DecoderConfig& config, Mlp mlp, size_t input, LayerBuilder& layer) {
  return mlp == Mlp::kSparse ? AddSparseMlp(config, input, layer)
                             : AddDenseMlp(config, input, layer);
}

}  // namespace stagecraft
