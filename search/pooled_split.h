// PooledSplit: how the blocks of a network are shared out over a pipeline in pools, and
// what its stages then take.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "costmodel/units.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/plan.h"

namespace stagecraft {

// One stage, and what it has to do.
struct PooledStage {
  int pool = 0;
  int tensor = 1;
  int blocks = 0;
};

// Remembers what layers take in each pool. What it knows of a plan may be asked from any
// thread once Split() or StageTimes() of it has returned.
class PooledSplit {
 public:
  // The problem outlives it.
  explicit PooledSplit(const SearchProblem& problem);

  // The split with the least slowest stage, of blocks that are all taken to be alike,
  // with one micro-batch in flight for each stage behind and a stage's own; empty where
  // memory, or blocks, are too few.
  std::vector<PooledStage> Split(const PooledPlan& plan) const;
  // What each kind of layer takes in a pool, of one micro-batch; the same for any number of
  // replicas.
  const std::vector<LayerTimes>& LayersIn(PooledPlan plan, int pool, int tensor) const;
  // Of one micro-batch.
  LayerTimes StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                        size_t s) const;
  // What the fullest device holds at least, by the split's states; of an even one where
  // `stages` is empty.
  MemoryNeed LeastMemory(const PooledPlan& plan, std::vector<PooledStage> stages) const;
  // The plan without its stages.
  Plan Common(const PooledPlan& plan) const;

 private:
  // What layers are to a stage in a pool with some tensor degree.
  struct LayerKindCosts {
    std::vector<LayerTimes> times;  // by kind
    LayerMemory block;
  };
  const LayerKindCosts& Kind(const PooledPlan& plan, int pool, int tensor) const;
  LayerKindCosts Measure(const PooledPlan& plan, int pool, int tensor) const;

  const SearchProblem& problem_;
  const Workload& workload_;
  const int blocks_;
  const std::vector<Pool> pools_;
  mutable std::map<std::array<int64_t, 5>, LayerKindCosts> kinds_;
};

}  // namespace stagecraft
