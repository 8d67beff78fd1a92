// PPO: a policy that learns from the plans that it draws.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/learning/adam.h"
#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_trials.h"
#include "search/solution.h"

namespace stagecraft {

// The defaults are usual ones for PPO, except for the rate: with the usual 3e-4 a few thousand
// plans teach too little (VGG-16 18 % off after 5,000 plans instead of 0.3 %).
struct StagePpoOptions {
  int batch = 32;         // plans between two updates
  int epochs = 4;         // updates on each batch
  double clip = 0.2;      // limit of the change of a decision's probability
  double entropy = 0.01;  // weight of the entropy
  double rate = 3e-3;     // of Adam
  uint64_t seed = 1;
};

// Proximal policy optimization on batches that others score.
class PolicyLearner {
 public:
  // `policy` must outlive it.
  PolicyLearner(const StagePpoOptions& options, StagePolicy& policy);

  // Learns from one batch, with reward -log(score) for each plan and the mean of the batch as
  // baseline. Throws Stopped between two updates: what was learned stays.
  void Learn(const PolicyGraph& graph, const PolicyBatch& batch, const std::vector<double>& scores,
             const StopSign& stop = {});

 private:
  Variable Loss(Tape& tape, const PolicyDecisions& decisions, const Matrix& before,
                const Eigen::VectorXd& advantages) const;

  const StagePpoOptions options_;
  StagePolicy& policy_;
  Adam adam_;
};

// Proximal policy optimization (Schulman et al., 2017) until `trials` are used up, with reward
// -log(score) at the end of a plan; baseline and scale are mean and standard deviation of the
// batch. Of four batches two are cut along dag.order and two along a drawn order; of each two, one
// has a drawn number of stages and one that of the best plan. `policy` is changed: untrained, it
// learns from scratch; trained on other problems, it is tuned to this one. `trials` must be
// limited. Returns from how many batches it learned.
int SearchByPolicy(const StageProblem& problem, const StagePpoOptions& options, StagePolicy& policy,
                   StageTrials& trials);

// The same on many problems in turn, `rounds` batches of each: it learns what they have in common.
// `report` is called after every round; `budget` ends the training with what was learned so far,
// and no batch begins that has more plans than evaluations are left. Returns from how many batches
// it learned: all, unless the budget ended first.
int TrainPolicy(std::span<const StageProblem> problems, int rounds, const StagePpoOptions& options,
                StagePolicy& policy, const std::function<void(int rounds_done)>& report = {},
                const Budget& budget = {});

}  // namespace stagecraft
