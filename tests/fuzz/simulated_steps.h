// Simulates steps of small problems, and checks what must hold for every step, however odd the
// input that described it.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft::fuzz {

// Whether the simulation of a step takes only milliseconds.
bool IsSmall(const Workload& workload);
bool IsSmall(const Cluster& cluster);
bool IsSmall(const Plan& plan);

// Throws std::logic_error if the step takes time and FindEvaluationErrors() finds that it cannot be
// right.
void CheckStep(const SimulatedStep& step, const Workload& workload, const Cluster& cluster);

// If all three are small, simulates a step with the analytical model and passes it to CheckStep().
// The plan must have no FindErrors().
void Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster);

// Simulates plans of one stage and, if the workload has enough layers, of two, on a cluster of two
// devices. Throws InputError if there are no such plans.
void SimulateWorkload(const Workload& workload);
// Simulates plans of a small decoder with 1, 2 and 4 stages, as far as these divide the devices.
// Throws InputError.
void SimulateCluster(const Cluster& cluster);

}  // namespace stagecraft::fuzz
