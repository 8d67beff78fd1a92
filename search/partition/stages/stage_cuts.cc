#include "search/partition/stages/stage_cuts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stagecraft {

StagePlan PlanFromCuts(const std::vector<int>& order, const std::vector<int>& ends,
                       std::vector<StageReplicas> replicas) {
  StagePlan plan{std::vector<int>(order.size()), std::move(replicas)};
  int stage = 0;
  for (int position = 0; position < static_cast<int>(order.size()); ++position) {
    if (position == ends[stage]) ++stage;
    plan.stage_of[order[position]] = stage;
  }
  return plan;
}

std::vector<int> DrawOrder(const Dag& dag, Random& random) {
  std::vector<size_t> missing;
  std::vector<int> ready;
  for (int node = 0; node < dag.size(); ++node) {
    missing.push_back(dag.producers[node].size());
    if (missing.back() == 0) ready.push_back(node);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int64_t drawn = random.Integer(0, static_cast<int64_t>(ready.size()) - 1);
    std::swap(ready[drawn], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const int consumer : dag.consumers[order.back()]) {
      if (--missing[consumer] == 0) ready.push_back(consumer);
    }
  }
  return order;
}

int MostStages(const StageProblem& problem) {
  return std::min(problem.devices(), problem.graph.dag.size());
}

StagePlan DrawStagePlan(const StageProblem& problem, int stages, Random& random) {
  const int nodes = problem.graph.dag.size();
  std::vector<int> ends(nodes - 1);
  std::iota(ends.begin(), ends.end(), 1);
  for (int cut = 0; cut < stages - 1; ++cut) {
    const int64_t drawn = random.Integer(cut, nodes - 2);
    std::swap(ends[cut], ends[drawn]);
  }
  ends.resize(stages - 1);
  std::sort(ends.begin(), ends.end());
  ends.push_back(nodes);
  // Each stage gets one device; each of the others goes to a stage of its kind or to none.
  std::vector<int> devices;
  for (size_t kind = 0; kind < problem.kinds.size(); ++kind) {
    devices.insert(devices.end(), problem.kinds[kind].count, static_cast<int>(kind));
  }
  std::vector<StageReplicas> replicas;
  for (int device = 0; device < static_cast<int>(devices.size()); ++device) {
    const int64_t drawn = random.Integer(device, static_cast<int64_t>(devices.size()) - 1);
    std::swap(devices[device], devices[drawn]);
    if (device < stages) {
      replicas.push_back({devices[device], 1});
      continue;
    }
    StageReplicas& on = replicas[random.Integer(0, stages - 1)];
    if (on.kind == devices[device]) ++on.replicas;
  }
  return PlanFromCuts(DrawOrder(problem.graph.dag, random), ends, std::move(replicas));
}

}  // namespace stagecraft
