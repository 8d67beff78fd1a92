// Baselines: simpler models of kernel times, to be compared with.
#pragma once

#include <memory>
#include <span>

#include "costmodel/cost_model.h"
#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// The bound itself (RooflineTime).
std::unique_ptr<CostModel> MakeRooflineModel();

// Log-log interpolation: the roofline times the mean of measured / roofline over
// the eight nearest samples of the family, in the logarithms of its sizes, on the
// same board where it has any, else on all; nearer ones count more.
std::unique_ptr<CostModel> FitInterpolation(std::span<const Sample> samples,
                                            const CallOverhead& overhead);

// Ridge regression of log(measured / roofline) on a family's features and their
// squares, all standardised.
std::unique_ptr<CostModel> FitRidge(std::span<const Sample> samples, const CallOverhead& overhead);

// Boosted trees on the same features and target: no structure, no constants, no
// guards.
std::unique_ptr<CostModel> FitPlainTrees(std::span<const Sample> samples,
                                         const CallOverhead& overhead);

}  // namespace stagecraft
