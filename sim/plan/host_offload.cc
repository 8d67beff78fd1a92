#include "sim/plan/host_offload.h"

#include <fmt/core.h>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

const Link& PciePort(const NodeType& node) {
  return node.wiring == Wiring::kPcie ? node.intra : node.fallback;
}

const NodeType& NodeOf(const Cluster& cluster, int device) {
  return cluster.node(cluster.place(device).node);
}

// Split into pieces of a MiB, each of which takes equally long; estimates call this extrapolated.
Op Moved(Bytes bytes, Bandwidth bandwidth) {
  constexpr Bytes kPiece(1 << 20);
  return Op::Profiled(DivideUp(bytes.count(), kPiece.count()), kPiece / bandwidth);
}

bool Offloads(const Plan& plan) { return plan.offload.optimizer || plan.offload.activations > 0; }

void CheckStates(const Plan& plan, std::vector<std::string>& errors) {
  if (plan.offload.host_memory == Bytes()) {
    errors.push_back(
        "host_memory_bytes: got none, want that of a node, for the states of offload_optimizer");
  } else if (plan.optimizer != Optimizer::kAdam) {
    errors.push_back(
        fmt::format("offload_optimizer: got optimizer {}, want adam", Name(plan.optimizer)));
  } else if (plan.forward_only || plan.post_validation) {
    errors.push_back(fmt::format(
        "offload_optimizer: wants {}",
        plan.forward_only ? "an update, but the plan is forward_only" : "post_validation off"));
  }
}

void CheckActivations(const Plan& plan, std::vector<std::string>& errors) {
  if (plan.offload.host_memory == Bytes()) {
    errors.push_back(
        "host_memory_bytes: got none, want that of a node, for the activations of "
        "offload_activations");
  } else if (plan.forward_only) {
    errors.push_back("offload_activations: wants backwards, but the plan is forward_only");
  }
}

void CheckPorts(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors) {
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      const NodeType& node = NodeOf(cluster, replica[0]);
      if (PciePort(node).bandwidth.bytes_per_s() > 0) continue;
      errors.push_back(fmt::format(
          "{}: no PCIe port of {} is known",
          plan.offload.optimizer ? "offload_optimizer" : "offload_activations", node.id));
      return;
    }
  }
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

Op HostCopy(const Cluster& cluster, int device, Bytes bytes) {
  return Moved(bytes, PciePort(NodeOf(cluster, device)).bandwidth);
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
  } else if (!(offload.activations >= 0 && offload.activations <= 1)) {
    errors.push_back(fmt::format("offload_activations: got {}, want 0 to 1", offload.activations));
  } else {
    if (offload.optimizer) CheckStates(plan, errors);
    if (offload.activations > 0) CheckActivations(plan, errors);
    if (errors.empty() && Offloads(plan)) CheckPorts(plan, cluster, errors);
  }
}

std::vector<std::string> OffloadNotes(const Plan& plan) {
  std::vector<std::string> notes;
  if (plan.offload.optimizer) {
    notes.push_back(fmt::format(
        "optimizer states are in host memory: each node's CPUs update them at {:.0f} GB/s "
        "(assumed), every device has a PCIe port of its own for copies, and nothing overlaps",
        kHostUpdateRate.bytes_per_s() * 1e-9));
  }
  if (plan.offload.activations > 0) {
    notes.push_back(fmt::format(
        "{:.0f} % of the saved activations go to host memory, unless their backward is one of the "
        "next three passes: every device has a PCIe port of its own each way (assumed), and copies "
        "overlap two passes",
        100 * plan.offload.activations));
  }
  return notes;
}

}  // namespace stagecraft
