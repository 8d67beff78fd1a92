#include "search/partition/placement_units.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <set>
#include <string>
#include <utility>

namespace stagecraft {
namespace {

// By node, the number of the group, component or unit to which it belongs.
using Membership = std::vector<int>;

Membership GroupOfNodes(const PlacementProblem& problem) {
  Membership group_of(problem.nodes.size());
  for (size_t group = 0; group < problem.groups.size(); ++group) {
    for (const int node : problem.groups[group]) group_of[node] = static_cast<int>(group);
  }
  return group_of;
}

// Returns the edges between different groups or units, in the direction of the pipeline; edges from
// forward to backward operators say nothing about it.
std::vector<DagEdge> PipelineEdges(const PlacementProblem& problem, const Membership& member_of,
                                   bool mirrors_backward) {
  std::set<DagEdge> edges;
  for (int node = 0; node < problem.dag.size(); ++node) {
    for (const int consumer : problem.dag.consumers[node]) {
      const bool is_backward = problem.nodes[node].is_backward;
      if (is_backward != problem.nodes[consumer].is_backward) continue;
      DagEdge edge{member_of[node], member_of[consumer]};
      if (is_backward && mirrors_backward) std::swap(edge.from, edge.to);
      if (edge.from != edge.to) edges.insert(edge);
    }
  }
  return {edges.begin(), edges.end()};
}

// Makes groups on a common cycle one component. Returns the number of components.
int MergeCycles(const std::vector<DagEdge>& edges, int groups, Membership& component_of) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(groups);
  for (const DagEdge& edge : edges) boost::add_edge(edge.from, edge.to, graph);
  component_of.resize(groups);
  return boost::strong_components(
      graph, boost::make_iterator_property_map(component_of.begin(),
                                               boost::get(boost::vertex_index, graph)));
}

bool TakesNoTime(const PlacementProblem& problem, const std::vector<int>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](int node) {
    return problem.nodes[node].accelerator_ms == 0 && problem.nodes[node].cpu_ms == 0;
  });
}

class UnitMerger {
 public:
  explicit UnitMerger(const PlacementProblem& problem) : problem_(problem) {}

  PlacementUnits Merge() {
    MergeGroups();
    MergeLeaves();
    return Build();
  }

 private:
  void MergeGroups() {
    const Membership group_of = GroupOfNodes(problem_);
    const auto groups = static_cast<int>(problem_.groups.size());
    Membership against, along;
    const int apart_against = MergeCycles(PipelineEdges(problem_, group_of, true), groups, against);
    const int apart_along = MergeCycles(PipelineEdges(problem_, group_of, false), groups, along);
    mirrors_backward_ = apart_against >= apart_along;
    const Membership& merged = mirrors_backward_ ? against : along;
    unit_of_.resize(problem_.nodes.size());
    nodes_.resize(std::max(apart_against, apart_along));
    for (int node = 0; node < problem_.dag.size(); ++node) {
      unit_of_[node] = merged[group_of[node]];
      nodes_[unit_of_[node]].push_back(node);
    }
  }

  std::set<int> NeighboursOf(int unit) const {
    std::set<int> neighbours;
    for (const int node : nodes_[unit]) {
      for (const int other : problem_.dag.consumers[node]) neighbours.insert(unit_of_[other]);
      for (const int other : problem_.dag.producers[node]) neighbours.insert(unit_of_[other]);
    }
    neighbours.erase(unit);
    return neighbours;
  }

  void MergeLeaves() {
    for (size_t unit = 0; unit < nodes_.size(); ++unit) {
      if (!TakesNoTime(problem_, nodes_[unit])) continue;
      const std::set<int> neighbours = NeighboursOf(static_cast<int>(unit));
      if (neighbours.size() != 1) continue;
      const int neighbour = *neighbours.begin();
      for (const int node : nodes_[unit]) unit_of_[node] = neighbour;
      std::vector<int>& joined = nodes_[neighbour];
      joined.insert(joined.end(), nodes_[unit].begin(), nodes_[unit].end());
      nodes_[unit].clear();
    }
  }

  // Returns whether this is one node that takes no time, memory or transfer and has no producer.
  bool IsFreeSource(const std::vector<int>& nodes) const {
    if (nodes.size() != 1 || !TakesNoTime(problem_, nodes)) return false;
    const PlacementNode& node = problem_.nodes[nodes[0]];
    return node.bytes == 0 && node.transfer_ms == 0 && problem_.dag.producers[nodes[0]].empty();
  }

  PlacementUnits Build() {
    PlacementUnits units;
    std::vector<int> place(nodes_.size(), -1);
    for (size_t unit = 0; unit < nodes_.size(); ++unit) {
      if (nodes_[unit].empty()) continue;
      if (IsFreeSource(nodes_[unit]) && problem_.nodes.size() > 1) {
        units.free_nodes.insert(units.free_nodes.end(), nodes_[unit].begin(), nodes_[unit].end());
        continue;
      }
      place[unit] = static_cast<int>(units.nodes.size());
      units.nodes.push_back(nodes_[unit]);
    }
    std::vector<DagEdge> edges;
    for (const DagEdge& edge : PipelineEdges(problem_, unit_of_, mirrors_backward_)) {
      if (place[edge.from] < 0 || place[edge.to] < 0) continue;
      edges.push_back({place[edge.from], place[edge.to]});
    }
    units.dag = MakeDag(std::vector<std::string>(units.nodes.size()), edges, problem_.name);
    return units;
  }

  const PlacementProblem& problem_;
  bool mirrors_backward_ = true;
  Membership unit_of_;                   // by node
  std::vector<std::vector<int>> nodes_;  // by unit; merged ones are empty
};

}  // namespace

PlacementUnits FindPlacementUnits(const PlacementProblem& problem) {
  return UnitMerger(problem).Merge();
}

}  // namespace stagecraft
