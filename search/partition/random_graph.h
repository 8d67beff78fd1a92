// Draws small graphs for tests by a seed.
#pragma once

#include <string>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/dag.h"

namespace stagecraft {

// Returns edges that connect all nodes; every edge leads to a node of a higher number.
inline std::vector<DagEdge> DrawEdges(Random& random, int nodes) {
  std::vector<DagEdge> edges;
  for (int to = 1; to < nodes; ++to) {
    const auto sure = static_cast<int>(random.Integer(0, to - 1));
    edges.push_back({sure, to});
    for (int from = 0; from < to; ++from) {
      if (from != sure && random.Uniform() < 0.25) edges.push_back({from, to});
    }
  }
  return edges;
}

inline std::vector<std::string> NumberedNames(int nodes) {
  std::vector<std::string> names;
  for (int node = 0; node < nodes; ++node) names.push_back("n" + std::to_string(node));
  return names;
}

}  // namespace stagecraft
