// PlannedJob: what a command simulates or runs.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/job/cluster_event.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/step/training_cost.h"
#include "sim/workload/workload.h"
#include "tools/flags/memory_margin.h"
#include "tools/stacks/stack_table.h"

namespace stagecraft {

// A device, a node, or one or several parallel links, and the share of its speed that is left.
struct SlowPart {
  std::string name;  // "node3/gpu1"
  double rate = 1;
  std::vector<EventTarget> parts;
};

// What a job has in common with jobs that differ in the plan alone.
struct JobBase {
  Workload workload;
  Cluster cluster;
  FrameworkMemory memory = {};          // of the stack's software
  std::vector<std::string> notes = {};  // assumptions on the cluster and the stack
  MemoryMargin margin = {};             // the cluster's devices have this much less memory
};

// What is a job's own.
struct JobPlan {
  Plan plan;
  std::vector<std::string> notes = {};  // assumptions on the plan
};

// What the flags ask for, checked and built. The plan names layers of the workload and devices of
// the cluster by their numbers.
struct PlannedJob {
  Workload workload;
  Cluster cluster;
  Plan plan;
  std::string stack;                     // whose defaults are used; may be empty
  std::vector<StackValue> stack_values;  // the defaults that no flag replaced
  std::vector<std::string> files;        // that were read
  std::vector<std::string> warnings;     // assumptions that results rest on, a sentence each
  NetworkOptions network = {};
  FrameworkMemory memory = {};      // of the stack's software
  std::vector<SlowPart> slow = {};  // as asked for; the cluster has them
  CostQuestion cost = {};
  MemoryMargin margin = {};  // the cluster's devices have this much less memory
};

}  // namespace stagecraft
