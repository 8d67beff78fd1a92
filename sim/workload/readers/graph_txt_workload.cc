// ToWorkload: a profiled graph as a workload.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device.h"
#include "costmodel/divide.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {

Workload ToWorkload(const ProfiledGraph& graph, const std::string& name) {
  constexpr int64_t kElement = ElementBits(DType::kFp32) / 8;
  const int count = static_cast<int>(graph.nodes.size());
  std::vector<int> last_reader(count, -1);
  for (const ProfiledEdge& edge : graph.edges) {
    last_reader[edge.from] = std::max(last_reader[edge.from], edge.to);
  }
  Workload workload;
  workload.name = name;
  workload.hidden = workload.heads = workload.kv_heads = workload.max_sequence = 1;
  std::vector<int64_t> expiring(count, 0);  // elements last read by a node
  int64_t alive = 0;
  for (int i = 0; i < count; ++i) {
    const ProfiledNode& node = graph.nodes[i];
    if (node.is_input()) continue;
    const int64_t elements = DivideUp(node.activation.count(), kElement);
    alive -= expiring[i];
    if (last_reader[i] > i) {
      alive += elements;
      expiring[last_reader[i]] += elements;
    }
    Operator op{.name = node.id, .kind = OperatorKind::kProfiled};
    op.positions = 1;
    op.parameters = DivideUp(node.parameters.count(), kElement);
    op.forward_time = node.forward;
    op.backward_time = node.backward;
    if (elements > 0) op.saved.push_back({.name = "output", .features = elements});
    LayerKind kind;
    kind.name = node.id + " " + node.description.substr(0, node.description.find('('));
    kind.boundary_features = alive;
    kind.boundary_positions = 1;
    kind.operators.Add(op);
    workload.layers.push_back(static_cast<int>(workload.kinds.size()));
    workload.kinds.push_back(std::move(kind));
  }
  if (workload.kinds.size() < 2) {
    throw InputError(fmt::format("{}: got {} operators besides inputs, want at least 2", name,
                                 workload.kinds.size()));
  }
  workload.kinds.front().role = LayerRole::kEmbedding;
  workload.kinds.back().role = LayerRole::kHead;
  return workload;
}

}  // namespace stagecraft
