// Search by gradients: boundaries and degrees as shares instead of choices.
#pragma once

#include <cstdint>

#include "search/partition/stages/stage_relaxation.h"
#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

inline constexpr double kMostPieceTimes = 3e7;  // 0.24 GB, and some tables in addition

struct StageGradientOptions {
  int steps = 30;     // of Adam, from each start
  int repairs = 200;  // evaluations, at the end of each start
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// Begins at many starts, each with a drawn number of stages, every second one along a drawn
// topological order instead of dag.order. A logit for each (boundary, position) and each (stage,
// kind and replicas) becomes a share by an annealed Gumbel-softmax (Jang et al., ICLR 2017); in the
// last third of the steps it is rounded forward and smooth backward. The objective is
//   LSE_t(stage times at the logits' boundaries) + t min_gamma over all
//   boundaries of sum exp((stage time - best) / t) + devices beyond those there,
// with the Gibbs marginals of the smooth dynamic programme as gradients, and as the first boundary
// logits. Each step evaluates two roundings: by the logits, and by the best boundaries for the
// rounded degrees, exactly; each start ends with RepairStagePlan(), which may also leave the order.
// For graphs of up to some hundred nodes: a step takes O(nodes^2 * (stages + choices)).
//
// `trials` must be limited. Throws an InputError that begins with the graph's name if the times of
// all pieces on all choices of devices are more than kMostPieceTimes.
void SearchByGradient(const StageProblem& problem, const StageGradientOptions& options,
                      StageTrials& trials);

}  // namespace stagecraft
