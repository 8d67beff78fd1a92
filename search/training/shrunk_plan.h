// ShrunkPlan(): a plan without the replicas that have lost devices.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/plan.h"

namespace stagecraft {

// Returns the plan on the replicas without a device of `down` (ascending), which divide the
// micro-batches of the step anew; no value if there are none left, or if stages have different
// replicas. Replicas that share experts stay together. Of replicas that must take equally many
// micro-batches, as many work as the step allows. The plan may still have FindErrors(). Linear in
// the devices of the plan.
std::optional<Plan> ShrunkPlan(const Plan& plan, const std::vector<int>& down);

}  // namespace stagecraft
