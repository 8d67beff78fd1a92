// What of a plan's degrees follows from the others.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Degrees with what is derived from others: data, zero and the like. Throws
// InputError with the arithmetic where they do not go together.
PlanDegrees ResolveDegrees(const PlanDegrees& degrees, const Cluster& cluster);

}  // namespace stagecraft
