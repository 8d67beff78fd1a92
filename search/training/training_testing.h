// A pipeline that tests of training runs change and break.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "search/training/job.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {

// 24 blocks whose embedding and head have tables of their own.
inline Workload UntiedGpt(int blocks = 24, int hidden = 256) {
  DecoderConfig config = SizedDecoder(
      "gpt", {.layers = blocks, .hidden = hidden, .heads = 8, .vocab = 1024, .max_sequence = 512});
  config.tied_embeddings = false;
  return BuildDecoder(config, AttentionBackend::kFlash, "untied");
}

// Four stages on each of `replicas` nodes of four devices.
struct SmallPipeline {
  explicit SmallPipeline(int replicas = 1) : cluster(MakeCluster(replicas, 4)) {
    PlanDegrees degrees = Degrees(1, 4);
    degrees.global_batch = 64;
    plan = MakePlan(degrees, workload, cluster);
  }
  Job JobWith(std::vector<NetworkChange> changes, BalancePolicy balance = {}) const {
    return {.workload = workload,
            .cluster = cluster,
            .model = model,
            .plan = plan,
            .steps = 1000,
            .changes = std::move(changes),
            .balance = balance};
  }

  Workload workload = UntiedGpt();
  Cluster cluster;
  PlainModel model;
  Plan plan;
};

// The first `frozen` layers are frozen from this step on.
inline NetworkChange Frozen(const Workload& workload, int64_t step, int frozen) {
  NetworkChange change = {step, std::vector<LayerState>(workload.layers.size()), "frozen"};
  for (int layer = 0; layer < frozen; ++layer) change.states[layer].is_trained = false;
  return change;
}

}  // namespace stagecraft
