// PolicyLearner: lets a policy learn from the plans that it draws (PPO).
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

// The defaults are the usual ones of PPO, except for the rate: with the usual 3e-4 it learns too
// little from a few thousand plans (VGG-16 is 18 % off after 5,000 plans instead of 0.3 %).
struct StagePpoOptions {
  int batch = 32;         // plans between two updates
  int epochs = 4;         // updates with each batch
  double clip = 0.2;      // limit of the change of a decision's probability
  double entropy = 0.01;  // weight of the entropy
  double rate = 3e-3;     // of Adam
  uint64_t seed = 1;
};

// PolicyLearner is proximal policy optimization on batches that its caller scores.
class PolicyLearner {
 public:
  // `policy` must outlive it.
  PolicyLearner(const StagePpoOptions& options, StagePolicy& policy);

  // Learns from one batch, with reward -log(score) for each plan and the mean of the batch as
  // baseline. Throws Stopped between two updates; what was learned is kept.
  void Learn(const PolicyGraph& graph, const PolicyBatch& batch, const std::vector<double>& scores,
             const StopSign& stop = {});

 private:
  Variable Loss(Tape& tape, const PolicyDecisions& decisions, const Matrix& before,
                const Eigen::VectorXd& advantages) const;

  const StagePpoOptions options_;
  StagePolicy& policy_;
  Adam adam_;
};

// Runs proximal policy optimization (Schulman et al., 2017) until `trials` are used up, with reward
// -log(score) at the end of a plan; baseline and scale are mean and standard deviation of the
// batch. Of four batches two are cut along dag.order and two along a drawn order; of each two, one
// has a drawn number of stages and one that of the best plan. `policy` is changed: an untrained one
// learns from scratch; one that was trained on other problems is tuned to this one. `trials` must
// be limited. Returns from how many batches the policy learned.
int SearchByPolicy(const StageProblem& problem, const StagePpoOptions& options, StagePolicy& policy,
                   StageTrials& trials);

// Does the same on many problems in turn, with `rounds` batches of each: the policy learns what
// they have in common. `report` is called after every round. If `budget` ends the training, what
// was learned so far is kept; no batch begins that has more plans than evaluations are left.
// Returns from how many batches the policy learned: all, unless the budget ended first.
int TrainPolicy(std::span<const StageProblem> problems, int rounds, const StagePpoOptions& options,
                StagePolicy& policy, const std::function<void(int rounds_done)>& report = {},
                const Budget& budget = {});

}  // namespace stagecraft
