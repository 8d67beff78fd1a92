#include "sim/workload/attention_window.h"

#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int kSlidingGroups = 1, kChunkedGroups = 2;

}  // namespace

void SetWindow(int64_t keys, WindowKind kind, Operator& op) {
  CHECK(op.kind == OperatorKind::kAttention && op.causal && keys > 0);
  op.input_elements = keys;
  op.groups = kind == WindowKind::kChunked ? kChunkedGroups : kSlidingGroups;
}

int64_t WindowOf(const Operator& op) {
  return op.kind == OperatorKind::kAttention && op.causal ? op.input_elements : 0;
}

bool HasWindow(const Operator& op, int64_t rows) {
  const int64_t window = WindowOf(op);
  return window > 0 && window < rows;
}

double MeanCausalKeys(const Operator& op, double rows) {
  const auto window = static_cast<double>(WindowOf(op));
  if (window == 0 || window >= rows) return 0.5 * rows;
  if (op.groups != kChunkedGroups) return window - window * window / (2 * rows);
  const double chunks = std::floor(rows / window);
  const double rest = rows - chunks * window;  // tokens of the last chunk
  return (chunks * window * window + rest * rest) / (2 * rows);
}

}  // namespace stagecraft
