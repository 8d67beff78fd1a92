// What tests of the lowering share: prices, devices, and a network small enough to check by hand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {

// Times that a reader can check: FLOPs at the device's peak rate plus memory traffic at 1 TB/s, and
// for messages the latency and bandwidth of the link.
class PlainModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      if (IsCollective(op.kind)) {
        const Link& link = op.fabric.nodes > 1 ? op.fabric.inter : op.fabric.intra;
        if (op.fabric.ranks > 1) estimate.time = link.latency + op.bytes / link.bandwidth;
      } else {
        estimate.time = op.Flops() / device.Peak(DType::kFp16) + op.Traffic() / Bandwidth(1e12);
      }
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

inline Device MakeDevice(const std::string& id, double peak) {
  Device device;
  device.id = id;
  device.name = id;
  device.multiprocessors = 100;
  device.peak.fill(FlopRate(peak));
  device.vector_peak = FlopRate(peak / 16);
  device.memory = Bytes(80'000'000'000);
  device.memory_bandwidth = Bandwidth(1e12);
  return device;
}

inline NodeType MakeNode(const Device& device, int devices) {
  NodeType node;
  node.id = "node-of-" + device.id;
  node.device = device;
  node.devices = devices;
  node.intra = {LinkKind::kNvlink, 1_us, Bandwidth(300e9)};
  node.domain = devices;
  node.fallback = node.intra;
  node.nics = devices;
  node.nic = {LinkKind::kNetwork, 5_us, Bandwidth(25e9)};
  return node;
}

inline Cluster MakeCluster(int nodes, int devices) {
  return Cluster("test", {{MakeNode(MakeDevice("fast", 100e12), devices), nodes}});
}

inline Workload MakeWorkload(int layers = 6) {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = layers, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512});
  return BuildDecoder(config, AttentionBackend::kFlash, "tiny");
}

inline Timeline Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster,
                         bool unfold, bool with_optimizer = true) {
  const PlainModel model;
  SimExecutor executor(cluster, model);
  return executor.Execute(Lower(plan, workload, cluster, {unfold, with_optimizer}));
}

inline PlanDegrees Degrees(int tensor, int pipeline) {
  PlanDegrees degrees;
  degrees.tensor = tensor;
  degrees.pipeline = pipeline;
  degrees.micro_batch = 2;
  degrees.global_batch = 32;
  degrees.sequence = 512;
  degrees.precision = DType::kFp16;
  degrees.recompute = Recompute::kNone;
  return degrees;
}

}  // namespace stagecraft
