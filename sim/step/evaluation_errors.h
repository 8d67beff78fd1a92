// The final check of an evaluation before anybody reads it.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// One sentence for each thing that is impossible for a step: times that are missing, negative or
// beyond 100 years, parts that do not add up or wait longer than the step, more idle time than all
// lanes have, negative memory, more arithmetic than all devices do in that time at the peak of the
// formats in which they multiply. Empty if the evaluation may be shown. `evaluation` is that of
// `plan`, simulated.
std::vector<std::string> FindEvaluationErrors(const Evaluation& evaluation, const Plan& plan,
                                              const Workload& workload, const Cluster& cluster);

// Throws std::runtime_error with the first of these sentences. Every verb that prints a simulated
// step calls this first.
void RequireSound(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                  const Cluster& cluster);

// One sentence for each thing that is possible but rarely intended: an MFU above 100 %, or one
// below 1 %.
std::vector<std::string> UseWarnings(const Evaluation& evaluation, const Workload& workload);

}  // namespace stagecraft
