// The plans whose stages lie in pools of unlike nodes, in numbers: which pool comes
// when, with how many stages of what tensor degree.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/cluster.h"
#include "sim/plan.h"

namespace stagecraft {

// Devices of one kind, in a row.
struct Pool {
  int first = 0;
  int devices = 0;
  int node_devices = 0;
  Bytes memory;
};

// Part of a pipeline that lies in one pool.
struct PoolRun {
  int pool = 0;
  int tensor = 1;
  int stages = 0;
};

struct PooledPlan {
  int data = 1;
  int64_t micro_batch = 1;
  Recompute recompute = Recompute::kNone;
  std::vector<PoolRun> runs;  // in pipeline order
};

// One for each group of nodes, in their order.
std::vector<Pool> PoolsOf(const Cluster& cluster);

// What the problem leaves to choose from, each plan once and in the same order at every
// call. No pool comes twice in a pipeline; tensor degrees are powers of two within a node;
// a run takes all that its pool has room for, or a half of it, a quarter, and so on.
std::vector<PooledPlan> EnumeratePooledPlans(const SearchProblem& problem,
                                             const std::vector<Pool>& pools);

}  // namespace stagecraft
