// Reports the steady state of a pipeline that never flushes, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/step/evaluation.h"

namespace stagecraft {

// Returns the object `steady_state` of a report. Precondition: step.evaluation.steady has a value.
nlohmann::ordered_json SteadyToJson(const SimulatedStep& step);
void PrintSteady(const SimulatedStep& step, std::ostream& out);

// Returns sentences about what its numbers rest on; none if there is no steady state.
std::vector<std::string> SteadyWarnings(const SimulatedStep& step);

}  // namespace stagecraft
