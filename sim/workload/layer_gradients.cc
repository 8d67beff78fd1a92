#include "sim/workload/layer_gradients.h"

#include <algorithm>
#include <cstddef>

#include "sim/workload/attention_window.h"

namespace stagecraft {
namespace {

double ForwardFlopsPerRow(const Operator& op, int64_t sequence) {
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kConvolution:
    case OperatorKind::kRecurrent: {
      const double entries =
          op.nonzeros ? static_cast<double>(*op.nonzeros)
                      : static_cast<double>(op.in_features) * static_cast<double>(op.out_features);
      return 2 * entries * (op.experts > 0 ? op.experts_per_token : 1);
    }
    case OperatorKind::kAttention: {
      const int64_t rows = op.positions > 0 ? op.positions : sequence;
      const double keys =
          op.keys > 0 ? static_cast<double>(op.keys) : op.row_share * static_cast<double>(rows);
      const double seen = op.causal ? MeanCausalKeys(op, keys) : keys;
      return 4.0 * op.heads * op.head_size * op.score_density * seen;
    }
    default:
      return 0;
  }
}

}  // namespace

double ForwardFlopsPerToken(const Operator& op, int64_t sequence) {
  const double rows =
      op.positions > 0 ? static_cast<double>(op.positions) / static_cast<double>(sequence) : 1.0;
  return op.row_share * rows * ForwardFlopsPerRow(op, sequence);
}

double TrainingFlopsPerToken(const Operator& op, const OperatorGradients& gradients,
                             int64_t sequence) {
  const double forward = ForwardFlopsPerToken(op, sequence);
  // The gradients of an attention's queries, keys and values count as those of an input. What steps
  // back through a recurrent layer is the same for both of its gradients.
  if (op.kind == OperatorKind::kAttention) return gradients.Any() ? 3 * forward : forward;
  const bool steps_back = op.kind == OperatorKind::kRecurrent && gradients.Any();
  return (1 + (gradients.of_input || steps_back) + gradients.of_weights) * forward;
}

std::vector<OperatorGradients> GradientsOf(const LayerKind& layer) {
  std::vector<OperatorGradients> gradients(layer.operators.size());
  const bool trains_all =
      !layer.is_frozen && std::none_of(layer.operators.begin(), layer.operators.end(),
                                       [](const Operator& op) { return op.is_frozen; });
  if (trains_all && layer.returns_gradient) return gradients;
  for (size_t v = 0; v < gradients.size(); ++v) {
    const Operator& op = layer.operators[v];
    const std::vector<size_t>& producers = layer.operators.producers(v);
    gradients[v].of_input = (op.reads_layer_input && layer.returns_gradient) ||
                            std::any_of(producers.begin(), producers.end(),
                                        [&](size_t producer) { return gradients[producer].Any(); });
    gradients[v].of_weights = layer.Trains(op) && op.parameters > 0;
  }
  return gradients;
}

}  // namespace stagecraft
