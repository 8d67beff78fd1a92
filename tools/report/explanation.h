// Explanation: a simulated step with the reasons why it takes as long as it does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/analysis/bubble.h"
#include "sim/analysis/critical_path.h"
#include "sim/step/evaluation.h"
#include "sim/step/mechanism.h"
#include "tools/flags/planned_job.h"
#include "tools/report/step_report.h"

namespace stagecraft {

struct Explanation {
  std::string label;       // how the user gave the plan
  std::string cost_model;  // name
  PlannedJob job;
  SimulatedStep step;
  std::vector<PathSegment> path;
  Bubble bubble;
  std::vector<MechanismTime> mechanisms = {};  // what each contributes, the largest first
};

// Costs as much as FindCriticalPath() and FindBubble() together.
Explanation Explain(PlannedJob job, SimulatedStep step);

// Returns the time of the critical path by what it is spent on; the parts add up to the step time.
std::vector<TimePart> PathParts(const Explanation& explanation);
// Returns how long the mean device of a stage (-1: of all stages) does what, and waits for what.
// The parts add up to the step time, except that each may lack a nanosecond by rounding.
std::vector<TimePart> DeviceParts(const Explanation& explanation, int stage = -1);
// Returns whether the device works in this part, an index into DeviceParts(), and does not wait.
bool IsBusyPart(size_t part);
// Returns the memory of the stage with the least memory to spare, or with the most too much.
const StageMemory& TightestStage(const Explanation& explanation);

// Turns a name into a key of JSON: "grad reduce" into "grad_reduce".
std::string JsonKey(const std::string& name);

// Returns what docs/json.md describes for one plan of `explain`.
nlohmann::ordered_json ToJson(const Explanation& explanation);

}  // namespace stagecraft
