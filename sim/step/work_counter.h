// WorkCounter: the arithmetic of a plan's step, and what its devices could do in the meantime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Remembers layers from plan to plan. Both arguments must outlive it.
class WorkCounter {
 public:
  WorkCounter(const Workload& workload, const Cluster& cluster)
      : workload_(workload), cluster_(cluster) {}

  // Fills in samples, tokens, FLOPs, devices and peak of the Evaluation.
  void Count(const Plan& plan, Evaluation& evaluation);

 private:
  struct Layer {
    ShardSpec spec;  // LayerSpec() without fabrics
    int kind = 0;
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  struct LayerHash {
    size_t operator()(const Layer& layer) const;
  };

  FlopCount RecomputedFlopsOf(const Plan& plan);
  FlopCount RecomputedFlopsOf(const ShardSpec& spec, int layer);

  const Workload& workload_;
  const Cluster& cluster_;
  std::map<std::pair<int64_t, bool>, FlopCount> per_token_;  // by sequence, whether forward only
  std::unordered_map<Layer, FlopCount, LayerHash> recomputed_;
};

}  // namespace stagecraft
