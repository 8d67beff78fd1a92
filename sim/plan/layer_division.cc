#include "sim/plan/layer_division.h"

#include <fmt/core.h>

namespace stagecraft {

std::string FindTensorError(const Workload& workload, int tensor) {
  if (workload.heads % tensor != 0) {
    return fmt::format("tensor_parallel: {} does not divide the {} attention heads of {}", tensor,
                       workload.heads, workload.name);
  }
  if (workload.kv_heads % tensor != 0 && tensor % workload.kv_heads != 0) {
    return fmt::format(
        "tensor_parallel: {} neither divides nor is a multiple of the {} key/value heads of {}",
        tensor, workload.kv_heads, workload.name);
  }
  if (workload.hidden % tensor != 0) {
    return fmt::format("tensor_parallel: {} does not divide the hidden size {} of {}", tensor,
                       workload.hidden, workload.name);
  }
  return "";
}

std::vector<std::string> FindTokenErrors(const Workload& workload, const TokenDivision& division) {
  const auto& [sequence, tensor, context, sequence_parallel, exchange] = division;
  std::vector<std::string> errors;
  const int64_t ranks = static_cast<int64_t>(tensor) * context;
  if (exchange == ContextExchange::kUlysses && workload.heads % ranks != 0) {
    errors.push_back(
        fmt::format("context_parallel: tensor_parallel {} x {} does not divide the {} attention "
                    "heads of {}, as ulysses needs",
                    tensor, context, workload.heads, workload.name));
  }
  if (sequence % context != 0) {
    errors.push_back(
        fmt::format("context_parallel: {} does not divide the sequence {}", context, sequence));
  } else if (sequence_parallel && sequence / context % tensor != 0) {
    errors.push_back(
        fmt::format("tensor_parallel: {} does not divide the {} tokens of a sequence, as sequence "
                    "parallelism needs",
                    tensor, sequence / context));
  }
  return errors;
}

int ExpertCount(const Workload& workload) {
  int experts = 0;
  for (const LayerKind& kind : workload.kinds) {
    for (const Operator& op : kind.operators) {
      const int own = op.experts;
      if (own == 0 || own == experts) continue;
      if (experts != 0) return -1;
      experts = own;
    }
  }
  return experts;
}

}  // namespace stagecraft
