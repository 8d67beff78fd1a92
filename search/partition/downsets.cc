#include "search/partition/downsets.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

std::vector<NodeSet> FindDownsets(const Dag& dag, const std::string& graph_name, int most,
                                  const StopSign& stop) {
  std::vector<NodeSet> downsets = {NodeSet(dag.size())};
  // Every downset has one node more than some downset of the next smaller size.
  for (size_t begin = 0, end = 1; begin < end; begin = std::exchange(end, downsets.size())) {
    std::set<NodeSet> larger;
    for (size_t d = begin; d < end; ++d) {
      stop.Check();
      for (int node = 0; node < dag.size(); ++node) {
        const NodeSet& done = downsets[d];
        if (done.test(node)) continue;
        const std::vector<int>& needed = dag.producers[node];
        if (!std::all_of(needed.begin(), needed.end(), [&](int n) { return done.test(n); })) {
          continue;
        }
        NodeSet next = done;
        larger.insert(next.set(node));
      }
    }
    if (downsets.size() + larger.size() > static_cast<size_t>(most)) {
      throw InputError(
          fmt::format("{}: has more than {} downsets, want a graph with fewer or "
                      "shorter branches",
                      graph_name, most));
    }
    downsets.insert(downsets.end(), larger.begin(), larger.end());
  }
  return downsets;
}

}  // namespace stagecraft
