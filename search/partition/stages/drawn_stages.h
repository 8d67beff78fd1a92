// Draws small stage problems by a seed, and enumerates all plans of a problem.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/downsets.h"
#include "search/partition/node_set.h"
#include "search/partition/random_graph.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

// Half of the problems have two kinds of devices of unlike speed, and in some the memory may not
// suffice.
inline StageProblem DrawStageProblem(Random random, int least_nodes, int most_nodes) {
  StageProblem problem;
  problem.graph.name = "drawn";
  const auto nodes = static_cast<int>(random.Integer(least_nodes, most_nodes));
  int64_t parameters = 0;
  for (const std::string& name : NumberedNames(nodes)) {
    TimedNode node{name, {}, {}, {}, {}};
    node.forward = Duration::Nanoseconds(random.Integer(1'000, 1'000'000));
    node.backward = Duration::Nanoseconds(random.Integer(1'000, 2'000'000));
    node.activation = Bytes(random.Integer(0, 3'000'000));
    node.parameters = Bytes(random.Integer(0, 3'000'000));
    parameters += node.parameters.count();
    problem.graph.nodes.push_back(std::move(node));
  }
  problem.graph.dag = MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), "drawn");
  const int64_t kinds = random.Integer(1, 2);
  const bool is_short = random.Uniform() < 0.25;
  for (int64_t kind = 0; kind < kinds; ++kind) {
    StageDeviceKind drawn;
    drawn.count = static_cast<int>(kinds == 1 ? random.Integer(1, 6) : random.Integer(1, 3));
    drawn.speed = kind == 0 ? 1 : static_cast<double>(random.Integer(2, 8)) / 4;
    if (is_short) drawn.memory = Bytes(parameters + random.Integer(1'000'000, 9'000'000));
    problem.kinds.push_back(drawn);
  }
  problem.bandwidth = Bandwidth(static_cast<double>(random.Integer(1, 20)) * 1e9);
  return problem;
}

// EveryStagePlan scores all plans, one after another.
class EveryStagePlan {
 public:
  explicit EveryStagePlan(const StageProblem& problem)
      : costs_(problem),
        scorer_(costs_),
        choices_(ReplicaChoices(problem)),
        downsets_(FindDownsets(problem.graph.dag, problem.graph.name)) {
    for (const StageDeviceKind& kind : problem.kinds) unused_.push_back(kind.count);
    plan_.stage_of.resize(problem.graph.dag.size());
  }

  double LeastScore() {
    Extend(0);
    return least_;
  }
  int64_t plans() const { return plans_; }

 private:
  void Extend(size_t begin) {
    if (begin + 1 == downsets_.size()) {
      ++plans_;
      least_ = std::min(least_, scorer_.Score(plan_));
      return;
    }
    for (size_t end = begin + 1; end < downsets_.size(); ++end) {
      if (!downsets_[begin].is_subset_of(downsets_[end])) continue;
      for (const int node : Members(downsets_[end] - downsets_[begin])) {
        plan_.stage_of[node] = plan_.stages();
      }
      for (const StageReplicas& on : choices_) {
        if (unused_[on.kind] < on.replicas) continue;
        unused_[on.kind] -= on.replicas;
        // Deeper stages overwrite only nodes of their own.
        plan_.replicas.push_back(on);
        Extend(end);
        plan_.replicas.pop_back();
        unused_[on.kind] += on.replicas;
      }
    }
  }

  const StageCosts costs_;
  StageScorer scorer_;
  const std::vector<StageReplicas> choices_;
  const std::vector<NodeSet> downsets_;
  std::vector<int> unused_;
  StagePlan plan_;
  int64_t plans_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace stagecraft
