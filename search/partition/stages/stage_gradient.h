// Search by gradients: boundaries and degrees as shares instead of choices.
#pragma once

#include <cstdint>

#include "search/partition/stages/stage_relaxation.h"
#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

inline constexpr double kMostPieceTimes = 3e7;  // 0.24 GB, and some tables beside

struct StageGradientOptions {
  int steps = 30;     // of Adam, from one start
  int repairs = 200;  // evaluations, at the end of each start
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// From many starts, each with a drawn number of stages, every second one
// along a drawn topological order instead of dag.order.
// A logit for each (boundary, position) and each (stage, kind and replicas)
// becomes a share by an annealed Gumbel-softmax (Jang et al., ICLR 2017); in the
// last third of the steps forward rounded, backward smooth. What is descended is
//   LSE_t(stage times at the logits' boundaries) + t min_gamma over all
//   boundaries of sum exp((stage time - best) / t) + devices beyond those there,
// with the smooth programme's Gibbs marginals as gradients, and as the first
// boundary logits. Each step evaluates two roundings: by the logits, and by the
// best boundaries for the rounded degrees, exactly; each start ends with
// RepairStagePlan, which also leaves the order. Graphs of up to some hundred
// nodes: O(nodes^2 * (stages + choices)) a step.
// `trials` must be limited. Throws InputError, the graph's name first, where the
// times of all pieces on all choices of devices are more than kMostPieceTimes.
void SearchByGradient(const StageProblem& problem, const StageGradientOptions& options,
                      StageTrials& trials);

}  // namespace stagecraft
