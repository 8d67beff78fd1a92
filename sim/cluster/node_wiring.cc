#include "sim/cluster/node_wiring.h"

#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "sim/cluster/cube_mesh.h"

namespace stagecraft {
namespace {

Link WithLatency(Link link, Duration latency) {
  link.latency = latency;
  return link;
}

std::optional<CubeMesh> MeshOf(Wiring wiring) {
  if (wiring == Wiring::kCubeMesh) return CubeMesh::kV100;
  if (wiring == Wiring::kSingleCubeMesh) return CubeMesh::kP100;
  return std::nullopt;
}

Duration FirstHalf(Duration latency) { return Duration::Nanoseconds(latency.ns() / 2); }
Duration SecondHalf(Duration latency) { return latency - FirstHalf(latency); }

}  // namespace

Link Slower(const Link& a, const Link& b) {
  return WithLatency(b.bandwidth < a.bandwidth ? b : a, std::max(a.latency, b.latency));
}

NodeWiring::NodeWiring(const NodeType& type) : type_(type), domain_(DomainSize(type)) {
  for (int device = 0; device < type_.devices; ++device) {
    AddEndpoint("gpu" + std::to_string(device));
    endpoints_.back().device = device;
  }
  if (type_.wiring == Wiring::kSwitched) {
    AddScaleUpSwitches();
  } else if (type_.wiring != Wiring::kPcie) {
    AddDirectCables();
  }
  const bool has_hub =
      type_.wiring == Wiring::kPcie || domain_ < type_.devices || MeshOf(type_.wiring);
  if (!type_.pcie.empty()) {
    AddPcie();
  } else if (has_hub) {
    AddSwitch(AddEndpoint("pcie"), Port(), 0, type_.devices, &pcie_up_, &pcie_down_);
  }
  if (type_.nics > 0) AddInterfaces();
}

int NodeWiring::AddEndpoint(std::string name) {
  endpoints_.push_back({std::move(name), -1});
  return static_cast<int>(endpoints_.size()) - 1;
}

int NodeWiring::AddCable(int from, int to, const Link& link) {
  cables_.push_back({from, to, link, -1});
  return static_cast<int>(cables_.size()) - 1;
}

void NodeWiring::AddScaleUpSwitches() {
  for (int first = 0; first < type_.devices; first += domain_) {
    const std::string number = domain_ == type_.devices ? "" : std::to_string(first / domain_);
    const int hub = type_.domain_nodes > 1 ? kDomainSwitch : AddEndpoint("nvswitch" + number);
    AddSwitch(hub, type_.intra, first, std::min(first + domain_, type_.devices), &up_, &down_);
  }
}

void NodeWiring::AddSwitch(int hub, const Link& link, int first, int last, std::vector<int>* up,
                           std::vector<int>* down) {
  for (int device = first; device < last; ++device) {
    up->push_back(AddCable(device, hub, WithLatency(link, FirstHalf(link.latency))));
    down->push_back(AddCable(hub, device, WithLatency(link, SecondHalf(link.latency))));
  }
}

void NodeWiring::AddDirectCables() {
  const std::optional<CubeMesh> mesh = MeshOf(type_.wiring);
  direct_.assign(static_cast<size_t>(type_.devices) * type_.devices, -1);
  for (int from = 0; from < type_.devices; ++from) {
    for (int to = 0; to < type_.devices; ++to) {
      double share = 0;  // of the device's links
      if (from == to) continue;
      if (type_.wiring == Wiring::kAllPairs) share = 1.0 / (type_.devices - 1);
      if (type_.wiring == Wiring::kPairs && from / 2 == to / 2) share = 1;
      if (mesh) share = 1.0 * CubeMeshLinks(*mesh, from, to) / CubeMeshLinksPerDevice(*mesh);
      if (share == 0) continue;
      Link link = type_.intra;
      link.bandwidth = share * type_.intra.bandwidth;
      Direct(from, to) = AddCable(from, to, link);
    }
  }
}

const Link& NodeWiring::Port() const {
  return type_.wiring == Wiring::kPcie ? type_.intra : type_.fallback;
}

void NodeWiring::AddPcie() {
  const PcieTree& tree = type_.pcie;
  const Link& port = Port();
  first_switch_ = static_cast<int>(endpoints_.size());
  for (int i = 0; i < tree.switches(); ++i) AddEndpoint("pcie" + std::to_string(i));
  const int first_root = static_cast<int>(endpoints_.size());
  for (int i = 0; i < tree.roots; ++i) AddEndpoint("root" + std::to_string(i));
  for (int device = 0; device < type_.devices; ++device) {
    const int hub = first_switch_ + tree.device_switch[device];
    pcie_up_.push_back(AddCable(device, hub, WithLatency(port, FirstHalf(port.latency))));
    pcie_down_.push_back(AddCable(hub, device, WithLatency(port, SecondHalf(port.latency))));
  }
  for (int i = 0; i < tree.switches(); ++i) {
    const int root = first_root + tree.switch_root[i];
    switch_up_.push_back(AddCable(first_switch_ + i, root, tree.uplinks[i]));
    switch_down_.push_back(AddCable(root, first_switch_ + i, tree.uplinks[i]));
  }
  across_.assign(static_cast<size_t>(tree.roots) * tree.roots, -1);
  for (int from = 0; from < tree.roots; ++from) {
    for (int to = 0; to < tree.roots; ++to) {
      if (from == to) continue;
      across_[from * tree.roots + to] =
          AddCable(first_root + from, first_root + to, tree.root_link);
    }
  }
}

int NodeWiring::RailSwitch(int rail) const {
  return type_.pcie.nic_switch[rail * type_.nics / static_cast<int>(rail_out_.size())];
}

// The latency of an interface is stated from device to device, so the latency of the ports is
// subtracted from it if these have cables of their own.
void NodeWiring::AddInterfaces() {
  const int rails = std::min(type_.nics, type_.devices);
  Link outside = type_.nic;
  outside.bandwidth = (static_cast<double>(type_.nics) / rails) * type_.nic.bandwidth;
  const Duration port = type_.pcie.empty() ? Duration() : Port().latency;
  const Duration out = std::max(FirstHalf(outside.latency) - FirstHalf(port), Duration());
  const Duration in = std::max(SecondHalf(outside.latency) - SecondHalf(port), Duration());
  std::vector<int> endpoints;
  for (int rail = 0; rail < rails; ++rail) {
    endpoints.push_back(AddEndpoint("nic" + std::to_string(rail)));
    rail_out_.push_back(AddCable(endpoints[rail], kFabric, WithLatency(outside, out)));
    rail_in_.push_back(AddCable(kFabric, endpoints[rail], WithLatency(outside, in)));
    cables_[rail_out_[rail]].rail = cables_[rail_in_[rail]].rail = rail;
  }
  PlugInterfaces(endpoints, outside);
}

void NodeWiring::PlugInterfaces(const std::vector<int>& endpoints, const Link& outside) {
  const int rails = static_cast<int>(endpoints.size());
  const bool has_port = Port().bandwidth.bytes_per_s() > 0;
  Link plug = {LinkKind::kPcie, Duration(), has_port ? Port().bandwidth : outside.bandwidth};
  if (type_.pcie.empty()) {
    for (int device = 0; device < type_.devices; ++device) {
      rail_.push_back(device * rails / type_.devices);
      nic_up_.push_back(AddCable(device, endpoints[rail_[device]], plug));
      nic_down_.push_back(AddCable(endpoints[rail_[device]], device, plug));
    }
    leaving_ = Port().bandwidth;
    return;
  }
  plug.bandwidth = outside.bandwidth;
  std::vector<int> switches;
  for (int rail = 0; rail < rails; ++rail) {
    switches.push_back(RailSwitch(rail));
    nic_up_.push_back(AddCable(first_switch_ + switches[rail], endpoints[rail], plug));
    nic_down_.push_back(AddCable(endpoints[rail], first_switch_ + switches[rail], plug));
  }
  rail_ = NearestInterfaces(type_.pcie, switches);
  const Bandwidth all = LeavingShare(type_.pcie, rail_, switches, Port().bandwidth);
  leaving_ = (1.0 / type_.devices) * all;
}

std::vector<int> NodeWiring::AlongTree(int from_switch, int to_switch) const {
  if (from_switch == to_switch) return {};
  const int from_root = type_.pcie.switch_root[from_switch];
  const int to_root = type_.pcie.switch_root[to_switch];
  if (from_root == to_root) return {switch_up_[from_switch], switch_down_[to_switch]};
  return {switch_up_[from_switch], across_[from_root * type_.pcie.roots + to_root],
          switch_down_[to_switch]};
}

std::vector<int> NodeWiring::Leaving(int device) const {
  const int rail = rail_[device];
  if (type_.pcie.empty()) return {nic_up_[device], rail_out_[rail]};
  std::vector<int> cables = AlongTree(type_.pcie.device_switch[device], RailSwitch(rail));
  cables.insert(cables.begin(), pcie_up_[device]);
  cables.insert(cables.end(), {nic_up_[rail], rail_out_[rail]});
  return cables;
}

std::vector<int> NodeWiring::Entering(int device) const {
  const int rail = rail_[device];
  if (type_.pcie.empty()) return {rail_in_[rail], nic_down_[device]};
  std::vector<int> cables = AlongTree(RailSwitch(rail), type_.pcie.device_switch[device]);
  cables.insert(cables.begin(), {rail_in_[rail], nic_down_[rail]});
  cables.push_back(pcie_down_[device]);
  return cables;
}

std::vector<int> NodeWiring::RailDevices() const {
  std::vector<int> served(rail_out_.size());
  for (const int rail : rail_) ++served[rail];
  return served;
}

std::vector<int> NodeWiring::Inside(int from, int to) const {
  CHECK(from != to);
  if (type_.wiring == Wiring::kSwitched && from / domain_ == to / domain_) {
    return {up_[from], down_[to]};
  }
  if (!direct_.empty()) {
    const int direct = direct_[from * type_.devices + to];
    if (direct >= 0) return {direct};
  }
  if (type_.pcie.empty()) return {pcie_up_[from], pcie_down_[to]};
  std::vector<int> cables = AlongTree(type_.pcie.device_switch[from], type_.pcie.device_switch[to]);
  cables.insert(cables.begin(), pcie_up_[from]);
  cables.push_back(pcie_down_[to]);
  return cables;
}

Link NodeWiring::PcieRing(std::span<const int> devices) const {
  Link link = Port();
  if (!type_.pcie.empty()) {
    link.bandwidth = std::min(link.bandwidth, RingShare(type_.pcie, devices));
  }
  return link;
}

bool NodeWiring::SameDomain(std::span<const int> devices) const {
  return devices.empty() || devices.front() / domain_ == devices.back() / domain_;
}

Link NodeWiring::GroupLink(std::span<const int> devices) const {
  CHECK(devices.size() >= 2);
  Link link = type_.intra;
  if (type_.wiring == Wiring::kAllPairs) {
    link.bandwidth =
        (static_cast<double>(devices.size() - 1) / (type_.devices - 1)) * type_.intra.bandwidth;
    return link;
  }
  if (const std::optional<CubeMesh> mesh = MeshOf(type_.wiring)) {
    unsigned members = 0;
    for (const int device : devices) members |= 1u << device;
    const int links = CubeMeshRingLinks(*mesh, members);
    if (links == 0) return PcieRing(devices);
    link.bandwidth = (1.0 * links / CubeMeshLinksPerDevice(*mesh)) * type_.intra.bandwidth;
    return link;
  }
  return SameDomain(devices) && type_.wiring != Wiring::kPcie ? link : PcieRing(devices);
}

Bandwidth NodeWiring::SharedNics(int ranks) const {
  const Bandwidth share =
      (static_cast<double>(type_.nics) * ranks / type_.devices) * type_.nic.bandwidth;
  if (!(leaving_.bytes_per_s() > 0)) return share;
  return std::min(share, static_cast<double>(ranks) * leaving_);
}

Bandwidth NodeWiring::MessageNics(int messages) const {
  const Bandwidth own =
      std::max(1.0, static_cast<double>(type_.nics) / type_.devices) * type_.nic.bandwidth;
  const Bandwidth share = (static_cast<double>(type_.nics) / messages) * type_.nic.bandwidth;
  const Bandwidth nics = std::min(own, share);
  if (!(leaving_.bytes_per_s() > 0)) return nics;
  const double senders = std::min(messages, type_.devices);
  return std::min({nics, Port().bandwidth, (type_.devices / senders) * leaving_});
}

}  // namespace stagecraft
