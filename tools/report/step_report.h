// A simulated step in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/step/evaluation.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// How long the simulation itself took.
struct WallTime {
  double total_ms = 0;
  double tasks_per_s = 0;
};

// One of the parts that a time is made of, by its name in reports.
struct TimePart {
  const char* name;
  Duration time;
};
std::vector<TimePart> PartsOf(const Breakdown& breakdown);

// What came of a plan. Keys carry their units.
nlohmann::ordered_json EvaluationToJson(const Evaluation& evaluation, const Plan& plan,
                                        const Workload& workload, const Cluster& cluster);

// The keys of docs/json.md, simulate; each carries its unit.
nlohmann::ordered_json StepToJson(const PlannedJob& job, const SimulatedStep& step,
                                  const WallTime& wall);

// The same for people: at most 100 columns wide.
void PrintStep(const PlannedJob& job, const SimulatedStep& step, std::ostream& out);

// Prints where the time of a step goes, class by class, seen from the critical rank.
void PrintBreakdown(const Evaluation& evaluation, std::ostream& out);

// Its memory: the items of every stage's fullest rank, worst first, and the verdict.
void PrintMemory(const Evaluation& evaluation, std::ostream& out);

}  // namespace stagecraft
