// Reports the parts of the cluster that are slow (--slow).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/step/evaluation.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// "node3/gpu1 at 0.8 of its speed, node0/nic3 -> fabric at 0.5"; empty if nothing is slow.
std::string SlowText(const PlannedJob& job);
nlohmann::ordered_json SlowToJson(const PlannedJob& job);

// Returns a sentence for each slow part that does not matter to the step: devices that the plan
// does not use, and links if nothing that the plan sends is slower because of them.
std::vector<std::string> SlowWarnings(const SimulatedStep& step, const PlannedJob& job);

}  // namespace stagecraft
