// SmallProblem: a small seeded search problem for tests, namely a network of a few layers on a few
// GPUs whose memory is about what the network needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/device.h"
#include "costmodel/random.h"
#include "search/problem.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/test_nodes.h"
#include "sim/memory/framework_memory.h"
#include "sim/workload/networks/decoder.h"

namespace stagecraft {

struct SmallProblem {
  Workload workload;
  Cluster cluster;
  PlanDegrees given;
  AnalyticalModel model{};

  SearchProblem Ask() const { return Ask(model); }
  SearchProblem Ask(const CostModel& other) const {
    return {.workload = workload, .cluster = cluster, .model = other, .given = given};
  }
};

// `memory` is the memory of a GPU beside its context and the buffers of one communicator, over what
// one GPU needs for all weights and states and a GB more.
inline std::unique_ptr<SmallProblem> MakeSmallProblem(Random random, double memory) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = 2 * static_cast<int>(random.Integer(1, 4));
  config.hidden = 512 * random.Integer(1, 4);
  config.heads = 8;
  config.kv_heads = random.Integer(0, 1) == 0 ? 8 : 4;
  config.ffn = 4 * config.hidden;
  config.vocab = 8192 * random.Integer(1, 4);
  config.max_sequence = 1024;
  Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "small");
  const int nodes = static_cast<int>(random.Integer(1, 2));
  const char* gpus[] = {"a100-sxm4-80gb", "h100-sxm", "v100-sxm2-16gb"};
  const std::string gpu = gpus[random.Integer(0, 2)];
  const Cluster catalogued = ParseCluster(gpu + ":" + std::to_string(nodes) + "x8");
  Cluster::NodeGroup group = catalogued.groups()[0];
  const double states = 18.0 * static_cast<double>(workload.Parameters());
  Device& device = group.type.device;
  device.memory = ContextMemory() + NcclBuffers(8, device.generation) +
                  Bytes(static_cast<int64_t>(memory * (states + 1e9)));
  PlanDegrees given;
  given.global_batch = 16 << random.Integer(0, 2);
  given.sequence = 1024;
  if (gpu == "v100-sxm2-16gb") given.precision = DType::kFp16;
  given.overlap_grad_reduce = random.Integer(0, 1) == 1;
  given.overlap_p2p = random.Integer(0, 1) == 1;
  return std::make_unique<SmallProblem>(SmallProblem{
      .workload = std::move(workload), .cluster = Cluster("small", {group}), .given = given});
}

// Returns a cluster with a few of the GPUs of each of two small problems.
inline Cluster MixGpus(const SmallProblem& one, const SmallProblem& other, Random random) {
  std::vector<Cluster::NodeGroup> groups;
  for (const SmallProblem* problem : {&one, &other}) {
    NodeType type = Switched();
    type.id = "node" + std::to_string(groups.size());
    type.device = problem->cluster.device(0);
    type.devices = random.Integer(0, 1) == 0 ? 2 : 4;
    type.nics = type.devices;
    groups.push_back({type, 1});
  }
  groups[1].type.device.memory_bandwidth = 0.7 * groups[1].type.device.memory_bandwidth;
  return Cluster("mixed", groups);
}

// Returns a small problem with the network of one on its own GPUs and on those of another.
inline std::unique_ptr<SmallProblem> MakeMixedProblem(Random random, Random other_random,
                                                      double memory) {
  std::unique_ptr<SmallProblem> one = MakeSmallProblem(random, memory);
  const auto other = MakeSmallProblem(other_random, memory);
  PlanDegrees given = one->given;
  given.precision = DType::kFp16;
  return std::make_unique<SmallProblem>(SmallProblem{
      .workload = one->workload, .cluster = MixGpus(*one, *other, random), .given = given});
}

inline std::unique_ptr<SmallProblem> MakeMixedProblem(Random random) {
  return MakeMixedProblem(random, random.Child("other boards", 0), 0.5);
}

}  // namespace stagecraft
