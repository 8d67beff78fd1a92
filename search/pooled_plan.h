// PooledPlan: a pipeline whose stages lie in pools of equal devices, before its blocks
// are shared out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/plan.h"

namespace stagecraft {

// Devices of one kind, in a row: a group of the cluster.
struct Pool {
  int first = 0;
  int devices = 0;
  int node_devices = 0;
  Bytes memory;
};
std::vector<Pool> PoolsOf(const Cluster& cluster);

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
  std::string rank_order = kDefaultRankOrder;
  std::vector<PoolRun> runs;  // in pipeline order

  std::vector<int> GroupDevices(size_t pools) const;
};

// Those that a problem leaves to choose from, each once, sorted by the order of the
// choices; ranks in the default order unless others are asked for. Of a pool's devices: as many
// stages as fit, half of them, a quarter, ...
std::vector<PooledPlan> EnumeratePooled(const SearchProblem& problem);

}  // namespace stagecraft
