// Reports a plan as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// Returns how many blocks a stage has: its layers without embedding and head.
int BlocksOf(const Stage& stage, const Workload& workload);

// Returns the number of replicas per stage: "4", or "15-1" if stages differ.
std::string ReplicasText(const Plan& plan);

// Returns all choices that make up the plan; keys say their units.
nlohmann::ordered_json PlanToJson(const Plan& plan, const Workload& workload);
// The same with the network's fidelity and the training stack's defaults.
nlohmann::ordered_json PlanToJson(const PlannedJob& job);

// Prints what a report begins with: workload, cluster and plan, the stack's defaults if there are
// any, and an empty line.
void PrintPlan(const PlannedJob& job, std::ostream& out);

}  // namespace stagecraft
