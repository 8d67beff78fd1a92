// A policy that learns from the plans that it draws.
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

// systems.md §5, but for the rate: with its 3e-4 a few thousand plans teach too
// little (VGG-16 18 % off after 5,000 instead of 0.3 %).
struct StagePpoOptions {
  int batch = 32;         // plans between two updates
  int epochs = 4;         // updates on each batch
  double clip = 0.2;      // of a decision's change of probability
  double entropy = 0.01;  // what variety is worth
  double rate = 3e-3;     // of Adam
  uint64_t seed = 1;
};

// Proximal policy optimization of batches that others score.
class PolicyLearner {
 public:
  // `policy` must outlive it.
  PolicyLearner(const StagePpoOptions& options, StagePolicy& policy);

  // One batch: reward -log(score) of each plan; a baseline of the batch's mean.
  // Throws Stopped between two updates: what was learned stays.
  void Learn(const PolicyGraph& graph, const PolicyBatch& batch, const std::vector<double>& scores,
             const StopSign& stop = {});

 private:
  Variable Loss(Tape& tape, const PolicyDecisions& decisions, const Matrix& before,
                const Eigen::VectorXd& advantages) const;

  const StagePpoOptions options_;
  StagePolicy& policy_;
  Adam adam_;
};

// Proximal policy optimization (Schulman et al., 2017) until `trials` are spent:
// reward -log(score), one at the end of a plan; baseline and scale are mean and
// standard deviation of the batch. Of four batches two are cut along dag.order and
// two along a drawn one; of each two, one is of a drawn number of stages and one
// of that of the best plan. `policy` is changed: untrained, it learns from scratch;
// trained on other problems, it is tuned to this one. `trials` must be limited.
// Returns how many batches it learned from.
int SearchByPolicy(const StageProblem& problem, const StagePpoOptions& options, StagePolicy& policy,
                   StageTrials& trials);

// The same on many problems in turn, `rounds` batches of each: what it learns is
// what they have in common. `report` hears of every round that is done; `budget` ends
// it with what was learned so far, and no batch begins that has more plans than
// evaluations are left. Returns how many batches it learned from: all, unless the
// budget ended first.
int TrainPolicy(std::span<const StageProblem> problems, int rounds, const StagePpoOptions& options,
                StagePolicy& policy, const std::function<void(int rounds_done)>& report = {},
                const Budget& budget = {});

}  // namespace stagecraft
