// PooledSplit: how the layers of a network are shared out over the stages of a pipeline in pools,
// and what its stages then take.
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

// PooledStage is one stage with its layers.
struct PooledStage {
  int pool = 0;
  int tensor = 1;
  int first_block = 0;
  int blocks = 0;
};

// PooledSplit remembers what layers take in each pool: the least over all places for a stage. Once
// Split() or StageTimes() has returned for a plan, its methods may be called for that plan from any
// thread.
class PooledSplit {
 public:
  // The problem must outlive it.
  explicit PooledSplit(const SearchProblem& problem);

  // Returns the split whose slowest stage is fastest, among those in which the states and saved
  // activations of the layers fit, with one micro-batch in flight for each later stage and one for
  // the stage itself; if there is none, among those in which the states fit. Empty if there is none
  // either, or if there are fewer layers than stages between the ends.
  std::vector<PooledStage> Split(const PooledPlan& plan) const;
  // Returns what each kind of layer takes in a pool for one micro-batch; it does not depend on the
  // number of replicas.
  const std::vector<LayerTimes>& LayersIn(const PooledPlan& plan, int pool, int tensor) const;
  // Returns, by kind of layer, the bytes of its weights with their gradients and optimizer states
  // on each device of a stage with this tensor degree; -1 if no transformer block is of that kind.
  const std::vector<Bytes>& BlockStates(const PooledPlan& plan, int tensor) const;
  // Returns what stage s takes for one micro-batch.
  LayerTimes StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                        size_t s) const;
  // Returns what the fullest device holds at least, counting states: with this split or, if
  // `stages` is empty, with an even one.
  MemoryNeed LeastMemory(const PooledPlan& plan, std::vector<PooledStage> stages) const;
  // Returns the plan without its stages.
  Plan Common(const PooledPlan& plan) const;

 private:
  // What layers cost a stage in a pool with one tensor degree, by kind of layer.
  struct LayerCosts {
    std::vector<LayerTimes> times;
    std::vector<Bytes> saved;
  };
  // Prefix sums: those over layers 0 to i are at index i + 1.
  struct Sums {
    std::vector<int64_t> time_ns;        // forward and backward
    std::vector<int64_t> states, saved;  // bytes
  };
  // The limits of one stage.
  struct Limits {
    const Sums* sums = nullptr;
    int64_t end_ns = 0;     // of the embedding or head
    int64_t in_flight = 0;  // micro-batches
    int64_t room = 0;       // bytes
  };
  const LayerCosts& CostsOf(const PooledPlan& plan, int pool, int tensor) const;
  LayerCosts Measure(const PooledPlan& plan, int pool, int tensor) const;
  const Sums& SumsOf(const PooledPlan& plan, int pool, int tensor) const;
  // Returns where stages with different links begin in a pool: one place for each case, over all
  // possible stages.
  const std::vector<int>& PlacesIn(int pool, int tensor) const;
  Plan Probe(const PooledPlan& plan, int tensor, int first_device) const;
  // `stages` have no blocks yet.
  std::vector<Limits> LimitsOf(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                               bool counts_saved) const;
  // What Fill() did: nothing but a limit of at least `next_ns` would change it.
  struct Filling {
    bool is_whole = false;
    int64_t next_ns = 0;
  };
  Filling Fill(const std::vector<Limits>& limits, int64_t most_ns,
               std::vector<PooledStage>& stages) const;
  static int64_t EvenTime(const std::vector<Limits>& limits);
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
