#include "sim/host_offload.h"

#include <fmt/format.h>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

const Link& PciePort(const NodeType& node) {
  return node.wiring == Wiring::kPcie ? node.intra : node.fallback;
}

const NodeType& NodeOf(const Cluster& cluster, int device) {
  return cluster.node(cluster.place(device).node);
}

// So many pieces of a MiB, each of which takes as long; estimates call it extrapolated.
Op Moved(Bytes bytes, Bandwidth bandwidth) {
  constexpr Bytes kPiece(1 << 20);
  return Op::Profiled(DivideUp(bytes.count(), kPiece.count()), kPiece / bandwidth);
}

}  // namespace

std::array<Op, 3> HostUpdate(const Plan& plan, const Cluster& cluster, int device,
                             int64_t parameters) {
  const NodeType& node = NodeOf(cluster, device);
  const Bandwidth port = PciePort(node).bandwidth;
  const Bytes gradients(parameters * plan.gradient_bytes);
  const Bytes working(parameters * plan.WorkingBytes());
  const Bytes states = OptimizerStates(plan.optimizer, plan.WorkingBytes(), parameters);
  const Bandwidth rate(kHostUpdateRate.bytes_per_s() / node.devices);
  return {Moved(gradients, port), Moved(gradients + 2 * states + working, rate),
          Moved(working, port)};
}

Bytes HostBytes(const Plan& plan, int64_t parameters) {
  return OptimizerStates(plan.optimizer, plan.WorkingBytes(), parameters) +
         Bytes(parameters * (plan.gradient_bytes + plan.WorkingBytes()));
}

Bytes HostShare(const Plan& plan, const Cluster& cluster, int device) {
  return Bytes(plan.offload.host_memory.count() / NodeOf(cluster, device).devices);
}

void FindOffloadErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors) {
  const HostOffload& offload = plan.offload;
  if (offload.host_memory < Bytes()) {
    errors.push_back(
        fmt::format("host_memory_bytes: got {}, want at least 0", offload.host_memory.count()));
    return;
  }
  if (!offload.optimizer) return;
  if (offload.host_memory == Bytes()) {
    errors.push_back(
        "host_memory_bytes: got none, want that of a node, where offload_optimizer "
        "puts states");
  } else if (plan.optimizer != Optimizer::kAdam) {
    errors.push_back(
        fmt::format("offload_optimizer: got optimizer {}, want adam", Name(plan.optimizer)));
  } else if (plan.forward_only || plan.post_validation) {
    errors.push_back(fmt::format(
        "offload_optimizer: wants {}",
        plan.forward_only ? "an update, but the plan is forward_only" : "post_validation off"));
  }
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      if (!errors.empty()) return;
      const NodeType& node = NodeOf(cluster, replica[0]);
      if (PciePort(node).bandwidth.bytes_per_s() > 0) continue;
      errors.push_back(fmt::format("offload_optimizer: no PCIe port of {} is known", node.id));
    }
  }
}

std::vector<std::string> OffloadNotes(const Plan& plan) {
  if (!plan.offload.optimizer) return {};
  return {
      fmt::format("optimizer states are with the hosts: each node's processors update at {:.0f} "
                  "GB/s (assumed), copies have all of a device's PCIe port, and nothing overlaps",
                  kHostUpdateRate.bytes_per_s() * 1e-9)};
}

}  // namespace stagecraft
