// Baselines: simpler models of kernel times, for comparison.
#pragma once

#include <memory>
#include <span>

#include "costmodel/cost_model.h"
#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Returns a model that predicts the roofline bound itself (RooflineTime).
std::unique_ptr<CostModel> MakeRooflineModel();

// Log-log interpolation: the roofline times the mean of measured / roofline over the eight nearest
// samples of the family, by the logarithms of its sizes, on the same GPU type if it has any
// samples, else on all; nearer samples weigh more.
std::unique_ptr<CostModel> FitInterpolation(std::span<const Sample> samples,
                                            const CallOverhead& overhead);

// Ridge regression of log(measured / roofline) on a family's features and their squares, all
// standardised.
std::unique_ptr<CostModel> FitRidge(std::span<const Sample> samples, const CallOverhead& overhead);

// Boosted trees on the same features and target, without structure, constants or guards.
std::unique_ptr<CostModel> FitPlainTrees(std::span<const Sample> samples,
                                         const CallOverhead& overhead);

}  // namespace stagecraft
