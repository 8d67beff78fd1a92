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

// Consecutive devices of one kind: a node group of the cluster.
struct Pool {
  int first = 0;
  int devices = 0;
  int node_devices = 0;
  Bytes memory;
};
std::vector<Pool> PoolsOf(const Cluster& cluster);

// The part of a pipeline that lies in one pool.
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

// The plans over pools from which a problem leaves to choose, each once: families, whose plans
// differ in their runs alone; one run or none in each pool; and the pools in any order. Ranks are
// in the default order unless others are asked for. A pool has as many stages as the devices of any
// number of its nodes are enough for, half as many, a quarter, ... There are no plans if the
// choices require what plans over pools do not have: several context or expert ranks, several
// chunks, another pipeline schedule than 1F1B, or other sharing than ResolveDegrees() chooses.
class PooledEnumeration {
 public:
  // With devices of all these kinds (KindsOf()) and of no other; empty: of any kinds. The problem
  // must outlive it.
  PooledEnumeration(const SearchProblem& problem, std::vector<int> kinds);

  const std::vector<Pool>& pools() const { return pools_; }
  // Plans without runs.
  std::vector<PooledPlan> Families() const;
  // What plans of a family may do with a pool; no stages: the pool stays unused.
  std::vector<PoolRun> RunsIn(const PooledPlan& family, int pool) const;
  // Whether a plan with such runs is one of these, whatever the order of its runs.
  bool Has(const PooledPlan& plan) const;
  // The tensor degrees that a stage may have in a pool.
  std::vector<int> TensorDegrees(const Pool& pool) const;
  // The transformer blocks of the workload; a pipeline has at most as many stages.
  int blocks() const { return blocks_; }

 private:
  bool AllowsPools(int data) const;
  // Possible numbers of stages of `stage_devices` devices each, the most first.
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

// The ZeRO stage that ResolveDegrees() chooses for this number of replicas.
int PooledZero(const SearchProblem& problem, int data);

}  // namespace stagecraft
