// How the sparse products of a schedule run: from their entries or as dense ones.
#pragma once

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Returns the schedule with every sparse product that may run either way replaced by one that runs
// in the way that takes less time, on all kinds of devices of the schedule together.
Schedule WithFasterProducts(Schedule schedule, const Cluster& cluster, const CostModel& model);

// How many distinct sparse products of a schedule run in each way.
struct SparseProducts {
  int from_entries = 0;
  int expanded = 0;  // as dense products
  friend bool operator==(const SparseProducts&, const SparseProducts&) = default;
};

// Counts them. Precondition: the schedule is one of WithFasterProducts().
SparseProducts CountSparseProducts(const Schedule& schedule);

}  // namespace stagecraft
