// ParameterBuckets: groups of layers of a chunk whose gradients are reduced, and whose parameters
// are gathered, together.
#pragma once

#include <span>
#include <vector>

#include "sim/lowering/traffic_rules.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct Bucket {
  LayerRange layers;          // empty for a share of a split vocabulary
  ParameterCount parameters;  // on one rank
  ParameterCount trained;     // those of them that are trained
  // The sizes of the dense tensors in `parameters` and in `trained`, if ParameterGather::kTensors
  // gathers them one by one; else these are empty. `tensors` lacks small ones, which stay on every
  // rank.
  std::vector<int64_t> tensors, trained_tensors;
  bool has_forward = false;   // some layer's forward runs
  bool has_backward = false;  // some layer has one
};

class ParameterBuckets {
 public:
  ParameterBuckets(const Plan& plan, const Workload& workload, const TrafficRules& rules);

  // The buckets of a chunk, or of a share of a split vocabulary, in the order in which their
  // gradients become ready: the last layers first.
  std::span<const Bucket> Of(int stage, int chunk) const { return buckets_[stage][chunk]; }
  // The trained parameters of all buckets of a stage.
  ParameterCount TrainedParameters(int stage) const;

 private:
  std::vector<std::vector<std::vector<Bucket>>> buckets_;  // by stage and chunk
};

}  // namespace stagecraft
