// Simulated steps of small problems, and what holds of every one of them, however odd the
// input that described it.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft::fuzz {

// Whether a step takes milliseconds to simulate.
bool IsSmall(const Workload& workload);
bool IsSmall(const Cluster& cluster);
bool IsSmall(const Plan& plan);

// Throws std::logic_error where the step takes time and is one that FindEvaluationErrors() says
// cannot be.
void CheckStep(const SimulatedStep& step, const Workload& workload, const Cluster& cluster);

// Simulates with the analytical model where all three are small, then CheckStep(). The plan
// must have no FindErrors().
void Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster);

// Plans of one, and where they can be of two stages, on a cluster of two devices. Throws
// InputError where that has none.
void SimulateWorkload(const Workload& workload);
// Data-parallel plans of a small decoder of as many stages as go, 1, 2 and 4. Throws InputError.
void SimulateCluster(const Cluster& cluster);

}  // namespace stagecraft::fuzz
