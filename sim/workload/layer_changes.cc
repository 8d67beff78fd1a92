#include "sim/workload/layer_changes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "sim/workload/layer_state.h"

namespace stagecraft {
namespace {

// Copies the operators of a layer one after another, while others are added between them.
class GraphCopy {
 public:
  explicit GraphCopy(const OperatorGraph& from) : from_(from), stand_in_(from.size()) {}

  // Appends the next operator of the layer, which reads what stands in for its operands.
  size_t Next() {
    const size_t vertex = copy_.Add(from_[next_]);
    for (const size_t producer : from_.producers(next_)) {
      copy_.AddEdge(stand_in_[producer], vertex);
    }
    stand_in_[next_++] = vertex;
    return vertex;
  }
  bool is_done() const { return next_ == from_.size(); }
  // Lets those that read the operator that was copied last read `vertex` instead.
  void Replace(size_t vertex) { stand_in_[next_ - 1] = vertex; }
  // `producers` is a copy, since the graph may move its own.
  size_t Add(Operator op, std::vector<size_t> producers) {
    const size_t vertex = copy_.Add(std::move(op));
    for (const size_t producer : producers) copy_.AddEdge(producer, vertex);
    return vertex;
  }

  OperatorGraph& copy() { return copy_; }

 private:
  const OperatorGraph& from_;
  OperatorGraph copy_;
  size_t next_ = 0;
  std::vector<size_t> stand_in_;  // by operator of `from_`
};

int64_t DenseEntries(const Operator& op) { return op.in_features * op.out_features; }

int64_t Matrices(const Operator& op) { return std::max(1, op.experts); }

bool HasMatrix(const Operator& op) {
  return op.kind == OperatorKind::kLinear && op.parameters >= Matrices(op) * DenseEntries(op);
}

Operator Linear(std::string name, Split split, int64_t in, int64_t out) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kLinear, .split = split};
  op.in_features = in;
  op.out_features = out;
  op.parameters = in * out;
  return op;
}

Operator Elementwise(std::string name, Split split, int64_t features, int64_t forward,
                     int64_t backward) {
  Operator op{.name = std::move(name), .kind = OperatorKind::kElementwise, .split = split};
  op.in_features = op.out_features = features;
  op.forward_elements = forward;
  op.backward_elements = backward;
  return op;
}

// The first matrix reads what `base` reads, and keeps it if `base` does not: as it is frozen, it
// needs its input only where that is also another operator's output.
Operator DownMatrix(const Operator& base, int rank) {
  const Split split = base.split == Split::kRow ? Split::kRow : Split::kTokens;
  Operator down = Linear(base.name + "_adapter_down", split, base.in_features, rank);
  down.positions = base.positions;
  down.reads_layer_input = base.reads_layer_input;
  for (const SavedTensor& tensor : base.saved) {
    if (tensor.name != base.name + "_input" || !tensor.only_for_weights) continue;
    down.saved.push_back(tensor);
    down.saved.back().name = down.name + "_input";
  }
  return down;
}

Operator UpMatrix(const Operator& base, int rank) {
  const Split split = base.split == Split::kColumn ? Split::kColumn : Split::kTokens;
  Operator up = Linear(base.name + "_adapter_up", split, rank, base.out_features);
  up.positions = base.positions;
  up.saved = {{.name = up.name + "_input", .features = rank, .only_for_weights = true}};
  return up;
}

// Scales what the adapter adds, and adds it; the backward scales the gradient.
Operator AdapterSum(const Operator& base) {
  const Split split = base.split == Split::kColumn ? Split::kColumn : Split::kTokens;
  const int64_t features = base.out_features;
  Operator sum =
      Elementwise(base.name + "_adapter_sum", split, features, 3 * features, 2 * features);
  sum.positions = base.positions;
  sum.kernels = 2;
  return sum;
}

}  // namespace

void StoreSparse(double density, LayerKind& layer) {
  for (Operator& op : layer.operators) {
    if (!HasMatrix(op)) continue;
    const int64_t all = DenseEntries(op);
    op.nonzeros = std::min(all, RoundUp(ShareUp(density, all), kEntriesTogether));
    op.parameters -= Matrices(op) * (all - *op.nonzeros);
  }
}

void AddAdapters(int rank, LayerKind& layer) {
  CHECK(rank > 0);
  GraphCopy graph(layer.operators);
  while (!graph.is_done()) {
    const size_t vertex = graph.Next();
    Operator& copied = graph.copy()[vertex];
    copied.is_frozen = copied.parameters > 0;
    if (copied.kind != OperatorKind::kLinear || copied.experts > 0) continue;
    const Operator base = copied;
    const size_t down = graph.Add(DownMatrix(base, rank), graph.copy().producers(vertex));
    const size_t up = graph.Add(UpMatrix(base, rank), {down});
    graph.Replace(graph.Add(AdapterSum(base), {vertex, up}));
  }
  layer.operators = std::move(graph.copy());
}

void AddRouter(double share, double arriving, LayerKind& layer) {
  const int64_t features = layer.boundary_features;
  GraphCopy graph(layer.operators);
  Operator router = Elementwise("router", Split::kTokens, features, features, 2 * features);
  router.out_features = 1;
  router.parameters = features;
  router.positions = layer.boundary_positions;
  router.reads_layer_input = true;
  router.row_share = arriving;
  router.saved = {{.name = "router_input", .features = features}};
  const size_t first = graph.Add(std::move(router), {});
  Operator gather =
      Elementwise("router_gather", Split::kTokens, features, 2 * features, 2 * features);
  gather.positions = layer.boundary_positions;
  gather.reads_layer_input = true;
  gather.row_share = share;
  const size_t gathered = graph.Add(std::move(gather), {first});
  size_t last = gathered;
  while (!graph.is_done()) {
    last = graph.Next();
    Operator& op = graph.copy()[last];
    if (std::exchange(op.reads_layer_input, false)) graph.copy().AddEdge(gathered, last);
    op.row_share = share;
  }
  Operator scatter =
      Elementwise("router_scatter", Split::kTokens, features, 3 * features, 2 * features);
  scatter.positions = layer.boundary_positions;
  scatter.row_share = share;
  graph.Add(std::move(scatter), {last});
  layer.operators = std::move(graph.copy());
}

void TakeRows(double share, LayerKind& layer) {
  for (Operator& op : layer.operators) op.row_share = share;
}

void TakeScores(double density, LayerKind& layer) {
  for (Operator& op : layer.operators) {
    if (op.kind == OperatorKind::kAttention) op.score_density = density;
  }
}

void RouteRows(const std::vector<double>& rows, LayerKind& layer) {
  const double all = std::accumulate(rows.begin(), rows.end(), 0.0);
  CHECK(all > 0);
  for (Operator& op : layer.operators) {
    if (op.experts != static_cast<int>(rows.size())) continue;
    op.expert_rows.clear();
    for (const double of_one : rows) op.expert_rows.push_back(of_one / all);
  }
}

}  // namespace stagecraft
