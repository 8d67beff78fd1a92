// TrainingFramework: which plans a training framework can run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a training framework can run; proto/training_framework.proto describes the fields.
struct TrainingFramework {
  std::string id, title;
  std::vector<PipelineSchedule> schedules;
  std::vector<int> zeros, pipeline_zeros;
  std::vector<Recompute> recomputes;
  bool recomputes_some_blocks = false;
  RecomputedParts recompute_parts;
  bool any_stage_layers = false;
  bool tensor_parallel = false, tensor_in_pipeline = false;
  std::vector<ContextExchange> context_exchanges;
  bool expert_parallel = false;
  std::vector<DType> precisions;
  std::vector<Fp8Recipe> fp8_recipes;
  std::vector<Optimizer> optimizers;
  std::vector<std::string> rank_orders;
  bool without_sequence_parallel = false, with_sequence_parallel = false;
  std::vector<ExpertSends> expert_sends;
  bool overlap_experts = false, order_groups = false, zero_groups = false;
  bool offload_optimizer = false, pipelines = false;
  bool overlap_tensor = false, overlap_param_gather = false;
  std::vector<PipelineSchedule> overlap_p2p;  // in which stages compute while they send
};

// Immutable; may be used from any thread.
class FrameworkTable {
 public:
  // The data/training_frameworks.textproto that is embedded in the binary, read at the first call.
  static const FrameworkTable& Embedded();
  // Reads a TrainingFrameworkTableProto in text format. Throws an InputError that begins with
  // `name`.
  static FrameworkTable Parse(const std::string& text, const std::string& name);

  std::vector<std::string> Names() const;
  // Returns null for an unknown name.
  const TrainingFramework* Find(std::string_view id) const;

 private:
  std::vector<TrainingFramework> frameworks_;
};

// Returns one sentence for each feature of a plan that the framework does not have, which names the
// feature; empty if it can run the plan. The plan must be one without errors.
std::vector<std::string> FindObstacles(const TrainingFramework& framework, const Plan& plan,
                                       const Workload& workload);

}  // namespace stagecraft
