// PolicyGraph: a stage problem as the matrices that a learned policy sees.
#pragma once

#include <vector>

#include "search/learning/tape.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

// The columns of PolicyGraph::features(): logarithms of forward and backward microseconds,
// parameter and output bytes; share of all compute time, times the number of nodes; depth as a
// share; numbers of producers and of consumers; 1.
inline constexpr int kNodeFeatures = 9;

// The number of features of a choice of devices for a stage, given what was placed so far.
inline constexpr int kChoiceFeatures = 10;

// The number of features of the run of operators since the last cut.
inline constexpr int kCutFeatures = 4;

class PolicyGraph {
 public:
  // `problem` must outlive this object. A stage may have any of the choices; if none are given, any
  // of ReplicaChoices().
  explicit PolicyGraph(const StageProblem& problem);
  PolicyGraph(const StageProblem& problem, std::vector<StageReplicas> choices);

  const StageProblem& problem() const { return costs_.problem(); }
  const StageCosts& costs() const { return costs_; }
  int nodes() const { return costs_.dag().size(); }
  const std::vector<StageReplicas>& choices() const { return choices_; }
  const Matrix& features() const { return features_; }  // nodes x kNodeFeatures

  // Each nodes x nodes: D^-1/2 (A + A^T + I) D^-1/2 of Kipf and Welling (ICLR 2017), and the
  // matrices that take means over producers and over consumers.
  const Matrix& undirected() const { return undirected_; }
  const Matrix& from_producers() const { return from_producers_; }
  const Matrix& from_consumers() const { return from_consumers_; }

  // The node's share of all compute time, times the number of nodes.
  double load(int node) const { return features_(node, 4); }

  // Returns the features of `on` as a choice for a stage, if the stages in front of it have their
  // devices and `unused` are left.
  Eigen::RowVectorXd ChoiceFeatures(const StageSizes& sizes, int64_t in, int64_t out,
                                    const StageReplicas& on, const std::vector<int>& unused,
                                    int stages_behind) const;

 private:
  StageCosts costs_;
  std::vector<StageReplicas> choices_;
  Matrix features_;
  Matrix undirected_;
  Matrix from_producers_;
  Matrix from_consumers_;
  double ideal_s_ = 0;
};

}  // namespace stagecraft
