// Reports slow ranks and a training run, predicted and measured, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "tools/run/run_plan.h"

namespace stagecraft {

// Both add nothing if the run has neither. Precondition: run.record has a value.
void PrintMeasuredRun(const RunOfPlan& run, std::ostream& out);
void AddMeasuredRun(const RunOfPlan& run, nlohmann::ordered_json* report);

}  // namespace stagecraft
