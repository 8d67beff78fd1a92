#include "search/partition/device_load.h"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

int64_t Picoseconds(double ms) { return std::llround(ms * kPicosecondsPerMs); }

}  // namespace

PlacementCosts::PlacementCosts(const PlacementProblem& problem)
    : memory_bytes(std::llround(problem.memory_bytes)), dag(problem.dag) {
  for (const PlacementNode& node : problem.nodes) {
    nodes.push_back({Picoseconds(node.runs_on_accelerator ? node.accelerator_ms : kMostPlacementMs),
                     Picoseconds(node.cpu_ms), Picoseconds(node.transfer_ms),
                     std::llround(node.bytes)});
  }
}

DeviceLoad::DeviceLoad(const PlacementCosts& costs, bool is_accelerator)
    : costs_(&costs),
      is_accelerator_(is_accelerator),
      is_here_(costs.nodes.size()),
      consumers_here_(costs.nodes.size()) {}

int64_t DeviceLoad::excess_bytes() const {
  return is_accelerator_ ? std::max<int64_t>(0, bytes_ - costs_->memory_bytes) : 0;
}

int64_t DeviceLoad::Transfer(int node) const {
  const auto consumers = static_cast<int>(costs_->dag.consumers[node].size());
  const bool crosses =
      is_here_[node] != 0 ? consumers_here_[node] < consumers : consumers_here_[node] > 0;
  return crosses ? costs_->nodes[node].transfer_ps : 0;
}

void DeviceLoad::Move(int node, bool comes) {
  const PlacementCosts::Node& cost = costs_->nodes[node];
  const int sign = comes ? 1 : -1;
  bytes_ += sign * cost.bytes;
  if (!is_accelerator_) {
    load_ps_ += sign * cost.cpu_ps;
    return;
  }
  load_ps_ += sign * cost.accelerator_ps - Transfer(node);
  is_here_[node] = comes ? 1 : 0;
  load_ps_ += Transfer(node);
  for (const int producer : costs_->dag.producers[node]) {
    load_ps_ -= Transfer(producer);
    consumers_here_[producer] += sign;
    load_ps_ += Transfer(producer);
  }
}

void DeviceLoad::Add(int node) { Move(node, true); }
void DeviceLoad::Remove(int node) { Move(node, false); }

}  // namespace stagecraft
