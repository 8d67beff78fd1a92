#include "sim/workload/early_exit.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr std::string_view kPrefix = "exit_";
constexpr std::string_view kGather = "exit_gather";  // the last operator of every exit

bool IsLoss(const Operator& op) { return op.kind == OperatorKind::kLoss; }

// The operator whose output the loss of a head reads.
size_t ProjectionOf(const LayerKind& head) {
  const auto loss = std::find_if(head.operators.begin(), head.operators.end(), IsLoss);
  return head.operators.producers(static_cast<size_t>(loss - head.operators.begin()))[0];
}

Operator Renamed(Operator op) {
  op.name.insert(0, kPrefix);
  for (SavedTensor& tensor : op.saved) tensor.name.insert(0, kPrefix);
  op.part = BlockPart::kNone;
  return op;
}

}  // namespace

const char* Name(ExitHead head) {
  constexpr const char* kNames[] = {"none", "own", "tied"};
  return kNames[static_cast<int>(head)];
}

bool HasExit(const LayerKind& layer) {
  const size_t count = layer.operators.size();
  return layer.role == LayerRole::kBlock && count > 0 && layer.operators[count - 1].name == kGather;
}

size_t FirstExitOperator(const LayerKind& layer) {
  size_t first = layer.operators.size();
  if (!HasExit(layer)) return first;
  while (first > 0 && layer.operators[first - 1].name.starts_with(kPrefix)) --first;
  return first;
}

bool CanHeadExits(const LayerKind& head) {
  if (head.role != LayerRole::kHead) return false;
  if (std::count_if(head.operators.begin(), head.operators.end(), IsLoss) != 1) return false;
  const auto loss = std::find_if(head.operators.begin(), head.operators.end(), IsLoss);
  const std::vector<size_t>& read =
      head.operators.producers(static_cast<size_t>(loss - head.operators.begin()));
  return read.size() == 1 && head.operators[read[0]].kind == OperatorKind::kLinear;
}

bool ReadsOutputOf(const LayerKind& head, const LayerKind& before, const LayerKind& layer) {
  return layer.boundary_features == before.boundary_features &&
         layer.boundary_positions == before.boundary_positions &&
         std::all_of(head.operators.begin(), head.operators.end(), [&](const Operator& op) {
           return !op.reads_layer_input || op.in_features == layer.boundary_features;
         });
}

void AddExit(const LayerKind& head, ExitHead kind, double arriving, double leaving,
             LayerKind& layer) {
  CHECK(kind != ExitHead::kNone && CanHeadExits(head));
  OperatorGraph& operators = layer.operators;
  const size_t output = operators.size() - 1;
  const size_t first = operators.size();
  const size_t projection = ProjectionOf(head);
  for (size_t v = 0; v < head.operators.size(); ++v) {
    Operator op = Renamed(head.operators[v]);
    op.row_share = arriving;
    const bool reads_layer = std::exchange(op.reads_layer_input, false);
    // A tensor that the head does not train is not trained here either.
    op.is_frozen = kind == ExitHead::kTied && v == projection && !head.Trains(head.operators[v]);
    const size_t vertex = operators.Add(std::move(op));
    for (const size_t producer : head.operators.producers(v)) {
      operators.AddEdge(first + producer, vertex);
    }
    if (reads_layer) operators.AddEdge(output, vertex);
  }
  if (kind == ExitHead::kTied) {
    const Operator& shared = head.operators[projection];
    layer.tied_parameters =
        head.tied_parameters > 0
            ? head.tied_parameters
            : std::min(shared.parameters, shared.in_features * shared.out_features);
  }
  Operator gather{.name = std::string(kGather), .kind = OperatorKind::kElementwise};
  gather.in_features = gather.out_features = layer.boundary_features;
  gather.positions = layer.boundary_positions;
  gather.row_share = leaving;
  if (leaving < arriving)
    gather.forward_elements = gather.backward_elements = 2 * gather.in_features;
  operators.AddEdge(output, operators.Add(std::move(gather)));
}

}  // namespace stagecraft
