// LargeJob: the job that benchmarks lower, simulate and measure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/plan/plan.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {

// Every op takes a microsecond, so that no time goes into predictions.
class UnitModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    return std::vector<Estimate>(ops.size(), {1_us, Basis::kAnalytical, 0});
  }
};

struct LargeJob {
  Workload workload;
  Cluster cluster;
  Plan plan;
};

// Returns a network with the sizes of Llama-3-405B, on nodes of 8 GPUs, with tensor parallelism of
// degree 8 and 16 stages.
inline LargeJob MakeLargeJob(int nodes, int64_t micro_batches_per_replica,
                             PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 126,
                                                      .hidden = 16384,
                                                      .heads = 128,
                                                      .kv_heads = 8,
                                                      .ffn = 53248,
                                                      .vocab = 128256,
                                                      .max_sequence = 8192});
  Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "decoder");
  NodeType node = Switched();
  node.device.peak.fill(FlopRate(1e15));
  Cluster cluster("nodes of 8", {{node, nodes}});
  PlanDegrees degrees;
  degrees.tensor = 8;
  degrees.pipeline = 16;
  degrees.sequence = 8192;
  degrees.schedule = schedule;
  degrees.global_batch = nodes / 16 * micro_batches_per_replica;
  Plan plan = MakePlan(degrees, workload, cluster);
  return {std::move(workload), std::move(cluster), std::move(plan)};
}

}  // namespace stagecraft
