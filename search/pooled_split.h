// PooledSplit: how the blocks of a network are shared out over a pipeline in pools, and
// what its stages then take.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// One stage, and what it has to do.
struct PooledStage {
  int pool = 0;
  int tensor = 1;
  int first_block = 0;
  int blocks = 0;
};

// Remembers what layers take in each pool: the least that any of its places for a stage does.
// What it knows of a plan may be asked from any thread once Split() or StageTimes() of it has
// returned.
class PooledSplit {
 public:
  // The problem outlives it.
  explicit PooledSplit(const SearchProblem& problem);

  // The split with the least slowest stage, of those whose blocks' states and saved
  // activations fit, with one micro-batch in flight for each stage behind and a stage's own;
  // where none does, of those whose states fit. Empty where these do not, or where there are
  // fewer blocks than stages between the ends.
  std::vector<PooledStage> Split(const PooledPlan& plan) const;
  // What each kind of layer takes in a pool, of one micro-batch; the same for any number of
  // replicas.
  const std::vector<LayerTimes>& LayersIn(const PooledPlan& plan, int pool, int tensor) const;
  // What the weights of each kind of block take with their gradients and optimizer states, on
  // each device of a stage with such a tensor degree; -1 where no block is of that kind.
  const std::vector<Bytes>& BlockStates(const PooledPlan& plan, int tensor) const;
  // Of one micro-batch.
  LayerTimes StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                        size_t s) const;
  // What the fullest device holds at least, by the split's states; of an even one where
  // `stages` is empty.
  MemoryNeed LeastMemory(const PooledPlan& plan, std::vector<PooledStage> stages) const;
  // The plan without its stages.
  Plan Common(const PooledPlan& plan) const;

 private:
  // What layers are to a stage in a pool with some tensor degree, by kind.
  struct LayerCosts {
    std::vector<LayerTimes> times;
    std::vector<Bytes> saved;
  };
  // Of blocks 0 to i together, at i + 1.
  struct Sums {
    std::vector<int64_t> time_ns;        // forward and backward
    std::vector<int64_t> states, saved;  // bytes
  };
  // What one stage may take.
  struct Limits {
    const Sums* sums = nullptr;
    int64_t end_ns = 0;     // embedding, head
    int64_t in_flight = 0;  // micro-batches
    int64_t room = 0;       // bytes
  };
  const LayerCosts& CostsOf(const PooledPlan& plan, int pool, int tensor) const;
  LayerCosts Measure(const PooledPlan& plan, int pool, int tensor) const;
  const Sums& SumsOf(const PooledPlan& plan, int pool, int tensor) const;
  // Where in a pool stages begin that see different links, over all there are.
  const std::vector<int>& PlacesIn(int pool, int tensor) const;
  Plan Probe(const PooledPlan& plan, int tensor, int first_device) const;
  std::vector<Limits> LimitsOf(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                               bool counts_saved) const;
  bool Fill(const std::vector<Limits>& limits, int64_t most_ns,
            std::vector<PooledStage>& stages) const;
  bool FillBest(const std::vector<Limits>& limits, std::vector<PooledStage>& stages) const;

  const SearchProblem& problem_;
  const Workload& workload_;
  const int blocks_;
  const std::vector<Pool> pools_;
  mutable std::map<std::array<int64_t, 4>, LayerCosts> costs_;
  mutable std::map<std::array<int64_t, 5>, Sums> sums_;
  mutable std::map<std::pair<int, int>, std::vector<Bytes>> states_;  // by data, tensor
  mutable std::map<std::pair<int, int>, std::vector<int>> places_;
};

}  // namespace stagecraft
