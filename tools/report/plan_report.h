// A plan in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// Blocks of a stage: its layers without embedding and head.
int BlocksOf(const Stage& stage, const Workload& workload);

// Of a stage: "4", or "15-1" where stages differ.
std::string ReplicasText(const Plan& plan);

// Everything that was chosen; keys carry their units. Of a job, the network's fidelity
// and the stack's defaults too.
nlohmann::ordered_json PlanToJson(const Plan& plan, const Workload& workload);
nlohmann::ordered_json PlanToJson(const PlannedJob& job);

// What a report opens with: workload, cluster and plan, and an empty line.
void PrintPlan(const PlannedJob& job, std::ostream& out);

}  // namespace stagecraft
