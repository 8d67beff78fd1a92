// Reports a simulated step as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/step/evaluation.h"
#include "tools/flags/memory_margin.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// How long the simulation itself took.
struct WallTime {
  double total_ms = 0;
  double tasks_per_s = 0;
};

// A part of a time, with its name in reports.
struct TimePart {
  const char* name;
  Duration time;
};
std::vector<TimePart> PartsOf(const Breakdown& breakdown);

// Returns the results of a plan's simulation. Keys say their units. The cluster's devices have less
// memory by the margin.
nlohmann::ordered_json EvaluationToJson(const Evaluation& evaluation, const Plan& plan,
                                        const Workload& workload, const Cluster& cluster,
                                        const MemoryMargin& margin);

// Returns the keys that docs/json.md lists for `simulate`; each says its unit.
nlohmann::ordered_json StepToJson(const PlannedJob& job, const SimulatedStep& step,
                                  const WallTime& wall);

// Prints the same as text, at most 100 characters wide.
void PrintStep(const PlannedJob& job, const SimulatedStep& step, std::ostream& out);

// Prints what the critical rank spends the step on, class by class.
void PrintBreakdown(const Evaluation& evaluation, std::ostream& out);

// Prints the verdict on the memory of all stages, with the numbers of the stage that decides it
// and, if the plan does not fit, what would make it fit.
void PrintFit(const PlannedJob& job, const SimulatedStep& step, std::ostream& out);

// Prints what the fullest rank of every stage holds, the worst stage first, and whether all fit.
void PrintMemory(const Evaluation& evaluation, const Cluster& cluster, const MemoryMargin& margin,
                 std::ostream& out);

}  // namespace stagecraft
