#include "sim/workload/workload.h"

#include <algorithm>
#include <utility>

#include "sim/workload/early_exit.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

// Forward FLOPs of the GEMMs of one layer, per token of the sequence.
double LayerForwardFlops(const LayerKind& kind, int64_t sequence) {
  double flops = 0;
  if (kind.is_cached) return flops;
  for (const Operator& op : kind.operators) flops += ForwardFlopsPerToken(op, sequence);
  return flops;
}

// FLOPs of the GEMMs of one layer in a training step, per token of the sequence.
double LayerTrainingFlops(const LayerKind& kind, int64_t sequence) {
  const std::vector<OperatorGradients> gradients = GradientsOf(kind);
  double flops = 0;
  if (kind.is_cached) return flops;
  for (size_t v = 0; v < gradients.size(); ++v) {
    flops += TrainingFlopsPerToken(kind.operators[v], gradients[v], sequence);
  }
  return flops;
}

bool HasFrozenPart(const LayerKind& kind) {
  return kind.is_frozen || std::any_of(kind.operators.begin(), kind.operators.end(),
                                       [](const Operator& op) { return op.is_frozen; });
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

bool Workload::has_frozen_layers() const {
  std::vector<bool> is_frozen;  // by kind
  for (const LayerKind& kind : kinds) is_frozen.push_back(HasFrozenPart(kind));
  return std::any_of(layers.begin(), layers.end(), [&](int kind) { return is_frozen[kind]; });
}

bool LayerKind::TrainsTied() const { return tied_parameters > 0 && !HasFrozenPart(*this); }

int64_t LayerKind::Parameters() const {
  int64_t total = -tied_parameters;
  for (const Operator& op : operators) total += op.parameters;
  return total;
}

int64_t LayerKind::TrainedParameters() const {
  int64_t total = TrainsTied() ? -tied_parameters : 0;
  for (const Operator& op : operators) total += Trains(op) ? op.parameters : 0;
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

int64_t Workload::TrainedParameters() const {
  std::vector<int64_t> of_kind;
  for (const LayerKind& kind : kinds) of_kind.push_back(kind.TrainedParameters());
  int64_t total = 0;
  // If the first layer is frozen, a tensor that it shares counts in those that train it. Heads of
  // exits share that of the last layer, which counts it.
  const bool is_first_frozen = !layers.empty() && layer(0).is_frozen;
  int64_t tied = 0;
  for (const int kind : layers) {
    total += of_kind[kind];
    if (!is_first_frozen || !kinds[kind].TrainsTied() || HasExit(kinds[kind])) continue;
    tied = std::max(tied, kinds[kind].tied_parameters);
  }
  return total + tied;
}

FlopCount Workload::ForwardFlops(int index, int64_t sequence) const {
  return FlopCount(LayerForwardFlops(layer(index), sequence));
}

FlopCount Workload::ForwardFlopsPerToken(int64_t sequence) const {
  std::vector<double> of_kind;
  for (const LayerKind& kind : kinds) {
    of_kind.push_back(LayerForwardFlops(kind, sequence));
  }
  double forward = 0;
  for (const int kind : layers) forward += of_kind[kind];
  return FlopCount(forward);
}

FlopCount Workload::TrainingFlopsPerToken(int64_t sequence) const {
  // The backward pass multiplies twice: by the weights and by the activations.
  if (!has_frozen_layers()) return 3.0 * ForwardFlopsPerToken(sequence);
  std::vector<double> of_kind;
  for (const LayerKind& kind : kinds) {
    of_kind.push_back(LayerTrainingFlops(kind, sequence));
  }
  double flops = 0;
  for (const int kind : layers) flops += of_kind[kind];
  return FlopCount(flops);
}

}  // namespace stagecraft
