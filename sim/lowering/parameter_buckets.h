// ParameterBuckets: layers of a chunk whose gradients are reduced, and whose parameters are
// gathered, in one go.
#pragma once

#include <span>
#include <vector>

#include "sim/lowering/traffic_rules.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct Bucket {
  LayerRange layers;
  ParameterCount parameters;  // on one rank
};

class ParameterBuckets {
 public:
  ParameterBuckets(const Plan& plan, const Workload& workload, const TrafficRules& rules);

  // In the order in which their gradients get ready: the last layers first.
  std::span<const Bucket> Of(int stage, int chunk) const { return buckets_[stage][chunk]; }
  // Parameters of all buckets of a stage.
  ParameterCount StageParameters(int stage) const;

 private:
  std::vector<std::vector<std::vector<Bucket>>> buckets_;  // by stage and chunk
};

}  // namespace stagecraft
