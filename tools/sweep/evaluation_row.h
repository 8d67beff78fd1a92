// The results of a plan as the columns of a row.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"
#include "tools/flags/memory_margin.h"
#include "tools/sweep/run_row.h"

namespace stagecraft {

// Returns the first 16 hexadecimal digits of the SHA-256 of a text with all results.
std::string HashOfResults(const std::string& text);

// Fills in the outcome and everything that follows it. A plan that does not fit has no time: only
// its memory is known. `margin` was taken off the memory of the cluster's devices.
void FillRow(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
             const Cluster& cluster, const MemoryMargin& margin, RunRow& row);

}  // namespace stagecraft
