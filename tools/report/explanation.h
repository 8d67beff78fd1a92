// Explanation: a simulated step with the reasons why it takes what it takes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/analysis/bubble.h"
#include "sim/analysis/critical_path.h"
#include "sim/step/evaluation.h"
#include "tools/flags/planned_job.h"
#include "tools/report/step_report.h"

namespace stagecraft {

struct Explanation {
  std::string label;       // how the plan was given
  std::string cost_model;  // its name
  PlannedJob job;
  SimulatedStep step;
  std::vector<PathSegment> path;
  Bubble bubble;
};

// Cost: as of FindCriticalPath() and FindBubble().
Explanation Explain(PlannedJob job, SimulatedStep step);

// The critical path by what its time is spent on; adds up to the step.
std::vector<TimePart> PathParts(const Explanation& explanation);
// What the mean device of a stage does of the step, and what it waits for; -1: of all
// stages. Adds up to the step, but for a nanosecond a part.
std::vector<TimePart> DeviceParts(const Explanation& explanation, int stage = -1);
// Of DeviceParts(): whether the device computes.
bool IsBusyPart(size_t part);
// The stage that comes closest to what its device has.
const StageMemory& TightestStage(const Explanation& explanation);

// "grad reduce" as a key of JSON: "grad_reduce".
std::string JsonKey(const std::string& name);

// One plan of docs/json.md, explain.
nlohmann::ordered_json ToJson(const Explanation& explanation);

}  // namespace stagecraft
