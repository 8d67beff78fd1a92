// Derives the degrees of a plan that follow from the others.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns the degrees together with those that are derived from others: data, zero and the like.
// Throws InputError with the arithmetic if they contradict each other.
PlanDegrees ResolveDegrees(const PlanDegrees& degrees, const Cluster& cluster);

}  // namespace stagecraft
