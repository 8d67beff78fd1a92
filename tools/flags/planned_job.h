// PlannedJob: what a command is to simulate.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/stacks/stack_table.h"

namespace stagecraft {

// What was asked for, checked and built. Workload and Cluster outlive the plan.
struct PlannedJob {
  Workload workload;
  Cluster cluster;
  Plan plan;
  std::string stack;                     // whose defaults were used; may be empty
  std::vector<StackValue> stack_values;  // those that no flag replaced
  std::vector<std::string> files;        // that were read
  std::vector<std::string> warnings;     // what rests on an assumption, a sentence each
  NetworkOptions network = {};
};

}  // namespace stagecraft
