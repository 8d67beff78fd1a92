// Reports what the ops of a step's critical rank take, kind by kind, and what that rests on.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "sim/step/evaluation.h"

namespace stagecraft {

// Returns an object for each kind of ops, those that take longest first: "op", the number of "ops",
// "time_ms", "basis" with the share of the time on each basis, and "spread", the mean sigma of
// log(time).
nlohmann::ordered_json OpEstimatesToJson(const SimulatedStep& step);
void PrintOpEstimates(const SimulatedStep& step, std::ostream& out);

}  // namespace stagecraft
