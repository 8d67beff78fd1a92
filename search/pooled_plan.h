// PooledPlan: a pipeline whose stages lie in pools of equal devices, before its blocks
// are shared out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/device_kinds.h"
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

// The plans over pools that a problem leaves to choose from, each once, in families that
// differ in their runs alone. Sorted by the order of the choices; ranks in the default order
// unless others are asked for. Of a pool's devices: as many stages as fit, half of them, a
// quarter, ... Empty where the choices want what plans over pools do not have: several context
// or expert ranks, several chunks, another order than 1F1B, or other sharing than
// ResolveDegrees() chooses.
class PooledEnumeration {
 public:
  // With devices of all these kinds (KindsOf()) and of no other; empty: of any. The problem
  // outlives it.
  PooledEnumeration(const SearchProblem& problem, std::vector<int> kinds);

  const std::vector<Pool>& pools() const { return pools_; }
  // Plans without runs.
  std::vector<PooledPlan> Families() const;
  // Those of a family, with their runs.
  std::vector<PooledPlan> PlansOf(const PooledPlan& family) const;
  // Tensor degrees of a stage in a pool.
  std::vector<int> TensorDegrees(const Pool& pool) const;
  bool MayUse(int pool) const;

 private:
  bool AllowsPools(int data) const;
  bool IsNew(const PooledPlan& plan) const;
  void AddRuns(const PooledPlan& so_far, std::vector<PooledPlan>& all) const;

  const SearchProblem& problem_;
  const DeviceKinds all_kinds_;
  const std::vector<int> kinds_;
  const int blocks_;
  const std::vector<Pool> pools_;
};

// What ResolveDegrees() chooses of ZeRO's stages for so many replicas.
int PooledZero(const SearchProblem& problem, int data);

}  // namespace stagecraft
