// The last look at an evaluation before anybody reads it.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What no step can be, a sentence each: times that are none, below zero or beyond 100 years,
// parts that do not add up or wait longer than the step, more than all lanes idle, less than no
// memory, more arithmetic than all devices do in that time at the peak of the formats that they
// multiply in. Empty where the evaluation may be shown. `evaluation` is of `plan`, simulated.
std::vector<std::string> FindEvaluationErrors(const Evaluation& evaluation, const Plan& plan,
                                              const Workload& workload, const Cluster& cluster);

// Throws std::runtime_error with the first of them: every verb that prints a simulated step
// calls this before.
void RequireSound(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                  const Cluster& cluster);

// What is possible but seldom meant, a sentence each: an MFU above 100 % or below 1 %.
std::vector<std::string> UseWarnings(const Evaluation& evaluation, const Workload& workload);

}  // namespace stagecraft
