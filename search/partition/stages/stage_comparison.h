// StageAlgorithm: the solvers of stage problems, to be run on one problem, each with the same
// budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

enum class StageAlgorithm {
  kRandom,  // randomly drawn plans: the baseline
  kMcmc,
  kGradient,
  kPolicy,          // learned, on the graph without directions
  kDirectedPolicy,  // on the graph with directions
  kTunedPolicy,     // a policy that has learned before
};

// Returns all algorithms that need nothing but the problem, so all but kTunedPolicy, in that order.
const std::vector<StageAlgorithm>& AllStageAlgorithms();

// Returns "random", "mcmc", "differentiable", "policy", "directed policy" or "tuned policy".
std::string NameOf(StageAlgorithm algorithm);

struct StageRun {
  StageAlgorithm algorithm;
  double score = 0;  // seconds of the slowest stage; many times as many if no plan fits
  StagePlan plan;
  int64_t evaluations = 0;
  double seconds = 0;
  std::vector<CurvePoint> curve;  // best so far
  int learned = 0;                // kTunedPolicy: batches that it learned from
};

struct StageComparison {
  // Must limit evaluations or time. An evaluation is one plan scored, from scratch or by what
  // changed; a step along a gradient is not an evaluation, and shows only in the seconds.
  Budget budget;
  uint64_t seed = 1;
  int policy_width = 64;  // policies start untrained
};

// Runs an algorithm, which must be one of AllStageAlgorithms().
StageRun RunStageAlgorithm(StageAlgorithm algorithm, const StageProblem& problem,
                           const StageComparison& comparison);
// Runs kTunedPolicy: `policy`, of any shape, draws plans and goes on learning. A policy that has
// learned nothing and was made with the same width and seed does the same as kPolicy.
StageRun TuneStagePolicy(const StageProblem& problem, const StageComparison& comparison,
                         StagePolicy& policy);

}  // namespace stagecraft
