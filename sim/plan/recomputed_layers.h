// Which transformer blocks of a plan recompute whole: from the rule of its degrees to the ranges of
// its stages, and what can be wrong with either.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Fills in Stage::recompute and Stage::recomputed of a plan whose chunks are set. Throws InputError
// if the rule does not apply to these stages or layers.
void ChooseRecomputedLayers(const PlanDegrees& degrees, const Workload& workload, Plan& plan);

// Appends a sentence for the first problem. Precondition: the chunks are right.
void FindRecomputeErrors(const Plan& plan, const Workload& workload,
                         std::vector<std::string>& errors);

}  // namespace stagecraft
