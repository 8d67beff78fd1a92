#include "sim/workload/workload.h"

#include <algorithm>
#include <utility>

namespace stagecraft {
namespace {

double ForwardFlopsPerRow(const Operator& op, int64_t sequence) {
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kConvolution:
    case OperatorKind::kRecurrent:
      return 2.0 * static_cast<double>(op.in_features) * static_cast<double>(op.out_features) *
             (op.experts > 0 ? op.experts_per_token : 1);
    case OperatorKind::kAttention: {
      const int64_t rows = op.positions > 0 ? op.positions : sequence;
      const double keys = static_cast<double>(op.keys > 0 ? op.keys : rows);
      return 4.0 * op.heads * op.head_size * keys * (op.causal ? 0.5 : 1.0);
    }
    default:
      return 0;
  }
}

// Forward FLOPs of the GEMMs of one layer, per token of the sequence.
double ForwardFlopsPerToken(const LayerKind& kind, int64_t sequence) {
  double flops = 0;
  for (const Operator& op : kind.operators) {
    const double rows =
        op.positions > 0 ? static_cast<double>(op.positions) / static_cast<double>(sequence) : 1.0;
    flops += rows * ForwardFlopsPerRow(op, sequence);
  }
  return flops;
}

void InsertSorted(std::vector<size_t>& sorted, size_t value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

}  // namespace

bool SuitsWinograd(const Operator& op) {
  if (op.kind != OperatorKind::kConvolution || op.groups != 1 || op.input_elements == 0) {
    return false;
  }
  const double products = static_cast<double>(op.in_features) * static_cast<double>(op.positions);
  // At the edges of an image without padding there are fewer.
  const double windows = products / static_cast<double>(op.input_elements);
  return windows > 8 && windows <= 9;
}

size_t OperatorGraph::Add(Operator op) {
  operators_.push_back(std::move(op));
  producers_.emplace_back();
  consumers_.emplace_back();
  return operators_.size() - 1;
}

void OperatorGraph::AddEdge(size_t producer, size_t consumer) {
  InsertSorted(producers_[consumer], producer);
  InsertSorted(consumers_[producer], consumer);
}

bool Workload::is_profile() const {
  for (const LayerKind& kind : kinds) {
    for (const Operator& op : kind.operators) {
      if (op.kind == OperatorKind::kProfiled) return true;
    }
  }
  return false;
}

int64_t LayerKind::Parameters() const {
  int64_t total = -tied_parameters;
  for (const Operator& op : operators) total += op.parameters;
  return total;
}

int Workload::op_sequence_count() const {
  int count = 0;
  for (const int kind : layers) count += kinds[kind].role == LayerRole::kBlock;
  return count;
}

int64_t Workload::Parameters() const {
  std::vector<int64_t> of_kind;
  for (const LayerKind& kind : kinds) of_kind.push_back(kind.Parameters());
  int64_t total = 0;
  for (const int kind : layers) total += of_kind[kind];
  return total;
}

FlopCount Workload::ForwardFlops(int index, int64_t sequence) const {
  return FlopCount(ForwardFlopsPerToken(layer(index), sequence));
}

FlopCount Workload::TrainingFlopsPerToken(int64_t sequence) const {
  std::vector<double> of_kind;
  for (const LayerKind& kind : kinds) of_kind.push_back(ForwardFlopsPerToken(kind, sequence));
  double forward = 0;
  for (const int kind : layers) forward += of_kind[kind];
  // The backward pass multiplies twice: by the weights and by the activations.
  return FlopCount(3.0 * forward);
}

}  // namespace stagecraft
