// PooledPlan: a pipeline whose stages lie in pools of equal devices, before its layers are shared
// out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/device_kinds.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Pool is a node group of the cluster: consecutive devices of one kind.
struct Pool {
  int first = 0;
  int devices = 0;
  int node_devices = 0;
  Bytes memory;
};
std::vector<Pool> PoolsOf(const Cluster& cluster);

// PoolRun is the part of a pipeline that lies in one pool.
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

// PooledEnumeration lists the plans over pools that a problem allows, each once: families, whose
// plans differ only in their runs; for each pool one run or none; and the pools in any order. Ranks
// are in the default order unless others are asked for. A pool has as many stages as the devices of
// any number of its nodes are enough for, half as many, a quarter, ... There are no plans if the
// choices require something that plans over pools do not have: several context or expert ranks,
// several chunks, another pipeline schedule than 1F1B, or another ZeRO stage than ResolveDegrees()
// chooses.
class PooledEnumeration {
 public:
  // The plans use devices of all these kinds (KindsOf()) and of no other; if `kinds` is empty, of
  // any kinds. The problem must outlive this object.
  PooledEnumeration(const SearchProblem& problem, std::vector<int> kinds);

  const std::vector<Pool>& pools() const { return pools_; }
  // Returns the families, as plans without runs.
  std::vector<PooledPlan> Families() const;
  // Returns the runs that plans of a family may have in a pool. A run of no stages means that the
  // pool stays unused.
  std::vector<PoolRun> RunsIn(const PooledPlan& family, int pool) const;
  // Returns whether a plan with these runs, in whatever order, is one of the problem's plans.
  bool Has(const PooledPlan& plan) const;
  // Returns the tensor degrees that a stage may have in a pool.
  std::vector<int> TensorDegrees(const Pool& pool) const;
  // The transformer blocks of the workload; a pipeline has at most as many stages.
  int blocks() const { return blocks_; }

 private:
  bool AllowsPools(int data) const;
  // Returns the possible numbers of stages of `stage_devices` devices each, the most first.
  std::vector<int> StagesIn(const Pool& pool, int stage_devices) const;
  bool MayUse(int pool) const;
  bool MustUse(int pool) const;
  bool IsNew(const PooledPlan& plan) const;

  const SearchProblem& problem_;
  const DeviceKinds all_kinds_;
  const std::vector<int> kinds_;
  const int blocks_;
  const std::vector<Pool> pools_;
};

// Returns the ZeRO stage that ResolveDegrees() chooses for this number of replicas.
int PooledZero(const SearchProblem& problem, int data);

}  // namespace stagecraft
