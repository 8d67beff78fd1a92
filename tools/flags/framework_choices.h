// Restricts a search to what a training framework can run.
#pragma once

#include <string>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/frameworks/framework_table.h"

namespace stagecraft {

// How many plans a search keeps for each one that it shows. The plans that the framework cannot run
// are dropped from these.
inline constexpr int kFoundForEachShown = 20;

// Takes out of the choices what the framework does not have; what they leave open becomes what it
// has. Choices cannot say all of it, so that DropOthers() is needed, too. Throws an InputError that
// names the flag for a value that was asked for and that the framework does not have. Returns notes
// for the user.
std::vector<std::string> RestrictChoices(const TrainingFramework& framework, PlanDegrees& given,
                                         Choices& choices);

// Drops the plans that the framework cannot run, and keeps the order of the others. If there were
// some and none is left, returns why, without a full stop; otherwise "".
std::string DropOthers(const TrainingFramework& framework, const Workload& workload,
                       std::vector<RankedPlan>& plans);

}  // namespace stagecraft
