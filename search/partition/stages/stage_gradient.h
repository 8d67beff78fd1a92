// SearchByGradient(): a search by gradients, in which boundaries and degrees are shares instead of
// choices.
#pragma once

#include <cstdint>

#include "search/partition/stages/stage_relaxation.h"
#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

inline constexpr double kMostPieceTimes = 3e7;  // 0.24 GB, apart from some other tables

struct StageGradientOptions {
  int steps = 30;     // steps of Adam from each start
  int repairs = 200;  // evaluations at the end of each start
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// Begins at many starts, each with a drawn number of stages, every second one along a drawn
// topological order instead of dag.order. A logit for each (boundary, position) and each (stage,
// kind and replicas) becomes a share by an annealed Gumbel-softmax (Jang et al., ICLR 2017); in the
// last third of the steps the forward pass takes rounded shares, the backward pass smooth ones. The
// objective is
//   LSE_t(stage times at the logits' boundaries) + t min_gamma over all
//   boundaries of sum exp((stage time - best) / t) + devices beyond those that exist,
// where t is the temperature of the smooth maximum LSE_t, and min_gamma is the smooth dynamic
// programme (smooth_cuts.h). The Gibbs marginals of the programme are its gradients, and give the
// first boundary logits. Each step evaluates two roundings: the likeliest boundaries, and those
// that are best for the rounded degrees, found exactly. Each start ends with RepairStagePlan(),
// which may also change the order. For graphs of up to some hundred nodes: a step takes O(nodes^2 *
// (stages + choices)).
//
// `trials` must be limited. Throws an InputError that begins with the graph's name if the times of
// all pieces on all choices of devices are more than kMostPieceTimes.
void SearchByGradient(const StageProblem& problem, const StageGradientOptions& options,
                      StageTrials& trials);

}  // namespace stagecraft
