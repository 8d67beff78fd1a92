// The steady state of a pipeline that never flushes, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/step/evaluation.h"

namespace stagecraft {

// The object `steady_state` of a report. Precondition: step.evaluation.steady.
nlohmann::ordered_json SteadyToJson(const SimulatedStep& step);
void PrintSteady(const SimulatedStep& step, std::ostream& out);

// What its numbers rest on, a sentence each; none where there is no steady state.
std::vector<std::string> SteadyWarnings(const SimulatedStep& step);

}  // namespace stagecraft
