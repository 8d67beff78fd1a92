#include "search/partition/check_planners.h"
#include "search/partition/node_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

namespace stagecraft {
namespace {

// Load is what one stage of a pipeline does for one profiled minibatch.
struct Load {
  double compute_s = 0;
  double parameters = 0, activations = 0;  // bytes
  double input = 0, output = 0;            // bytes, across the cuts
};

std::vector<Load> LoadsOf(const TimedGraph& graph, const std::vector<NodeSet>& stages,
                          std::vector<std::string>& errors) {
  CheckStageOrder(graph.dag, stages, errors);
  std::vector<Load> loads;
  NodeSet done(graph.dag.size());
  for (const NodeSet& stage : stages) {
    Load load;
    for (const int node : Members(stage)) {
      load.compute_s += graph.nodes[node].compute().seconds();
      load.parameters += static_cast<double>(graph.nodes[node].parameters.count());
      load.activations += static_cast<double>(graph.nodes[node].activation.count());
    }
    load.input = done.none() ? 0 : FrontierBytes(graph, done);
    done |= stage;
    load.output = done.all() ? 0 : FrontierBytes(graph, done);
    loads.push_back(load);
  }
  return loads;
}

template <typename Stage>
std::vector<NodeSet> NodesOf(const std::vector<Stage>& stages) {
  std::vector<NodeSet> nodes;
  for (const Stage& stage : stages) nodes.push_back(stage.nodes);
  return nodes;
}

void RequireMemory(size_t stage, double bytes, const std::optional<Bytes>& memory,
                   std::vector<std::string>& errors) {
  if (!memory || bytes <= static_cast<double>(memory->count())) return;
  errors.push_back(fmt::format("stage {} needs {} bytes, has {}", stage, bytes, memory->count()));
}

int MachineOf(const DappleOptions& options, int device) {
  return device / options.devices_per_machine;
}

std::set<int> MachinesOf(const DappleOptions& options, const std::vector<int>& devices) {
  std::set<int> machines;
  for (const int device : devices) machines.insert(MachineOf(options, device));
  return machines;
}

double AllReduce(const DappleOptions& options, const std::vector<int>& devices, double bytes) {
  const auto n = static_cast<double>(devices.size());
  const double sent = 2 * (n - 1) / n * bytes;
  if (MachinesOf(options, devices).size() > 1) {
    return sent / options.between_collective.bytes_per_s();
  }
  return n < 2 ? 0 : sent / options.inside.bytes_per_s() / static_cast<double>(devices.size() / 2);
}

double Transfer(const DappleOptions& options, const std::vector<int>& from,
                const std::vector<int>& to, double bytes) {
  const std::set<int> machines = MachinesOf(options, to);
  if (machines.size() > 1) return bytes / options.between_collective.bytes_per_s();
  double outside = 0;
  for (const int device : from) outside += machines.contains(MachineOf(options, device)) ? 0 : 1;
  if (outside == 0) return bytes / options.inside.bytes_per_s();
  return bytes * outside / static_cast<double>(from.size()) / options.between.bytes_per_s();
}

}  // namespace

PartitionCheck CheckDapple(const TimedGraph& graph, const DappleOptions& options,
                           const DapplePlan& plan) {
  PartitionCheck check;
  const std::vector<Load> loads = LoadsOf(graph, NodesOf(plan.stages), check.errors);
  std::vector<DappleBlock> blocks;
  std::set<int> taken;
  for (size_t s = 0; s < loads.size(); ++s) {
    const std::vector<int>& devices = plan.stages[s].devices;
    for (const int device : devices) {
      const bool exists = device >= 0 && MachineOf(options, device) < options.machines;
      if (exists && taken.insert(device).second) continue;
      check.errors.push_back(fmt::format("GPU {} is taken twice or does not exist", device));
    }
    if (s > 0) {
      const double one_way_s =
          Transfer(options, plan.stages[s - 1].devices, devices, loads[s].input);
      blocks.push_back({one_way_s, one_way_s, 0});
    }
    const auto copies = static_cast<double>(devices.size());
    const double half_s = loads[s].compute_s / copies / 2;
    blocks.push_back({half_s, half_s, AllReduce(options, devices, loads[s].parameters)});
    const double in_flight =
        std::min<double>(static_cast<double>(loads.size() - s), options.micro_batches);
    RequireMemory(s, loads[s].parameters + in_flight * loads[s].activations / copies,
                  options.memory, check.errors);
  }
  check.objective = DappleStepSeconds(blocks, options.micro_batches);
  return check;
}

PartitionCheck CheckTwoBuffer(const TimedGraph& graph, const TwoBufferOptions& options,
                              const TwoBufferPlan& plan) {
  PartitionCheck check;
  const std::vector<Load> loads = LoadsOf(graph, NodesOf(plan.stages), check.errors);
  const double b = plan.per_micro_batch;
  if (plan.depth != static_cast<int>(loads.size()) || plan.depth * plan.width != options.devices ||
      plan.micro_batches < plan.depth ||
      plan.micro_batches * plan.per_micro_batch * plan.width != options.batch) {
    check.errors.push_back("depth, width and micro-batches do not make up devices and batch");
  }
  double period_s = 0;
  for (size_t s = 0; s < loads.size(); ++s) {
    const Load& load = loads[s];
    const double compute_s = b * load.compute_s * (plan.recompute ? 4.0 / 3 : 1.0);
    const double moved_s = b * (load.input + load.output) / options.bandwidth.bytes_per_s();
    const double sync_s = 2.0 * (plan.width - 1) / plan.width * load.parameters /
                          options.bandwidth.bytes_per_s() / plan.micro_batches;
    period_s = std::max({period_s, compute_s + moved_s, sync_s});
    const double stash = plan.recompute ? plan.depth * b * load.input : 0;
    RequireMemory(s, 2 * load.parameters + b * load.activations + stash, options.memory,
                  check.errors);
  }
  check.objective = b * plan.width / period_s;
  return check;
}

PartitionCheck CheckVirtualWorker(const TimedGraph& graph, const HetPipeOptions& options,
                                  const std::vector<int>& gpus, const VirtualWorker& worker) {
  PartitionCheck check;
  const std::vector<Load> loads = LoadsOf(graph, NodesOf(worker.stages), check.errors);
  std::multiset<int> free(gpus.begin(), gpus.end());
  const auto transfer_s = [&](size_t behind, double bytes) {
    const bool is_inside = worker.stages[behind].server == worker.stages[behind - 1].server;
    return is_inside ? 2 * bytes / options.inside.bytes_per_s()
                     : 2 * bytes / options.between.bytes_per_s() + 2 * options.latency.seconds();
  };
  double slowest_s = 0, all_s = 0;
  for (size_t s = 0; s < loads.size(); ++s) {
    const auto gpu = free.find(worker.stages[s].server);
    if (gpu == free.end()) {
      check.errors.push_back(
          fmt::format("stage {} has no GPU of server {}", s, worker.stages[s].server));
      continue;
    }
    free.erase(gpu);
    const HetPipeServer& server = options.servers[worker.stages[s].server];
    double time_s = loads[s].compute_s / server.speed;
    if (s > 0) time_s += transfer_s(s, loads[s].input);
    if (s + 1 < loads.size()) time_s += transfer_s(s + 1, loads[s].output);
    slowest_s = std::max(slowest_s, time_s);
    all_s += time_s;
    const int copies = std::max(1, worker.in_flight - static_cast<int>(s));
    RequireMemory(s, copies * (loads[s].parameters + loads[s].activations), server.memory,
                  check.errors);
  }
  check.objective = std::min(1 / slowest_s, worker.in_flight / all_s);
  return check;
}

}  // namespace stagecraft
