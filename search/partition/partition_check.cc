#include "search/partition/partition_check.h"

#include <fmt/format.h>

namespace stagecraft {

void CheckStageOrder(const Dag& dag, std::span<const NodeSet> stages,
                     std::vector<std::string>& errors) {
  constexpr int kNone = -1;
  std::vector<int> stage_of(dag.size(), kNone);
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    if (stages[stage].none()) errors.push_back(fmt::format("stage {} is empty", stage));
    for (const int node : Members(stages[stage])) {
      if (stage_of[node] != kNone) {
        errors.push_back(
            fmt::format("node {} is in stages {} and {}", node, stage_of[node], stage));
      }
      stage_of[node] = static_cast<int>(stage);
    }
  }
  for (int node = 0; node < dag.size(); ++node) {
    if (stage_of[node] == kNone) errors.push_back(fmt::format("node {} is in no stage", node));
    for (const int consumer : dag.consumers[node]) {
      if (stage_of[node] <= stage_of[consumer]) continue;
      errors.push_back(fmt::format("node {} of stage {} feeds node {} of stage {} before it", node,
                                   stage_of[node], consumer, stage_of[consumer]));
    }
  }
}

}  // namespace stagecraft
