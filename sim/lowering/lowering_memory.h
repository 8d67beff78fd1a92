// LoweringMemory: facts about a workload and a cluster that lowerings ask for again and again.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/lowering/op_memory.h"
#include "sim/lowering/placed_plan.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What it returns never depends on earlier calls. The workload and the cluster must outlive it.
class LoweringMemory {
 public:
  LoweringMemory(const Workload& workload, const Cluster& cluster)
      : workload_(workload), cluster_(cluster), ops_(workload) {}

  // Returns a placed plan with the devices of `plan`, valid until the next call.
  PlacedPlan& Place(const Plan& plan, bool unfold);
  // What plans run alike.
  OpMemory& ops() { return ops_; }
  // Returns Cluster::DescribeGroup().
  const Fabric& DescribeGroup(const std::vector<int>& devices);

 private:
  struct DevicesHash {
    size_t operator()(const std::vector<int>& devices) const;
  };

  const Workload& workload_;
  const Cluster& cluster_;
  OpMemory ops_;
  std::list<PlacedPlan> placed_;  // the most recently used one first
  std::unordered_map<std::vector<int>, Fabric, DevicesHash> groups_;
};

}  // namespace stagecraft
