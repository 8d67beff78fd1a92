// LoweringMemory: what lowerings ask of a cluster again and again.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/lowering/placed_plan.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Nothing that it says depends on what it was asked before. What it is made of must
// outlive it.
class LoweringMemory {
 public:
  LoweringMemory(const Workload& workload, const Cluster& cluster)
      : workload_(workload), cluster_(cluster) {}

  // Until the next call.
  PlacedPlan& Place(const Plan& plan, bool unfold);
  // Cluster::DescribeGroup().
  const Fabric& DescribeGroup(const std::vector<int>& devices);

 private:
  struct DevicesHash {
    size_t operator()(const std::vector<int>& devices) const;
  };

  const Workload& workload_;
  const Cluster& cluster_;
  std::list<PlacedPlan> placed_;  // the last one first
  std::unordered_map<std::vector<int>, Fabric, DevicesHash> groups_;
};

}  // namespace stagecraft
