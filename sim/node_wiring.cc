#include "sim/node_wiring.h"

#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "sim/cube_mesh.h"

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
  } else if (type_.wiring == Wiring::kPcie) {
    AddSwitch(AddEndpoint("pcie"), type_.intra, 0, type_.devices, &pcie_up_, &pcie_down_);
  } else {
    AddDirectCables();
  }
  if (domain_ < type_.devices || MeshOf(type_.wiring)) {
    AddSwitch(AddEndpoint("pcie"), type_.fallback, 0, type_.devices, &pcie_up_, &pcie_down_);
  }
  if (type_.nics > 0) AddInterfaces();
}

int NodeWiring::AddEndpoint(std::string name) {
  endpoints_.push_back({std::move(name), -1});
  return static_cast<int>(endpoints_.size()) - 1;
}

int NodeWiring::AddCable(int from, int to, const Link& link) {
  cables_.push_back({from, to, link});
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
      double share = 0;  // of a device's links
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

Bandwidth NodeWiring::PortBandwidth() const {
  return type_.wiring == Wiring::kPcie ? type_.intra.bandwidth : type_.fallback.bandwidth;
}

void NodeWiring::AddInterfaces() {
  const int rails = std::min(type_.nics, type_.devices);
  Link outside = type_.nic;
  outside.bandwidth = (static_cast<double>(type_.nics) / rails) * type_.nic.bandwidth;
  const bool has_port = PortBandwidth().bytes_per_s() > 0;
  const Link port = {LinkKind::kPcie, Duration(), has_port ? PortBandwidth() : outside.bandwidth};
  std::vector<int> endpoints;
  for (int rail = 0; rail < rails; ++rail) {
    endpoints.push_back(AddEndpoint("nic" + std::to_string(rail)));
    const Duration latency = outside.latency;
    rail_out_.push_back(
        AddCable(endpoints[rail], kFabric, WithLatency(outside, FirstHalf(latency))));
    rail_in_.push_back(
        AddCable(kFabric, endpoints[rail], WithLatency(outside, SecondHalf(latency))));
  }
  for (int device = 0; device < type_.devices; ++device) {
    rail_.push_back(device * rails / type_.devices);
    nic_up_.push_back(AddCable(device, endpoints[rail_[device]], port));
    nic_down_.push_back(AddCable(endpoints[rail_[device]], device, port));
  }
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
  return {pcie_up_[from], pcie_down_[to]};
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
    if (links == 0) return type_.fallback;
    link.bandwidth = (1.0 * links / CubeMeshLinksPerDevice(*mesh)) * type_.intra.bandwidth;
    return link;
  }
  return SameDomain(devices) ? link : type_.fallback;
}

Bandwidth NodeWiring::SharedNics(int ranks) const {
  const Bandwidth share =
      (static_cast<double>(type_.nics) * ranks / type_.devices) * type_.nic.bandwidth;
  if (!(PortBandwidth().bytes_per_s() > 0)) return share;
  return std::min(share, static_cast<double>(ranks) * PortBandwidth());
}

Bandwidth NodeWiring::MessageNics(int messages) const {
  const Bandwidth own =
      std::max(1.0, static_cast<double>(type_.nics) / type_.devices) * type_.nic.bandwidth;
  const Bandwidth share = (static_cast<double>(type_.nics) / messages) * type_.nic.bandwidth;
  const Bandwidth nics = std::min(own, share);
  if (!(PortBandwidth().bytes_per_s() > 0)) return nics;
  return std::min(nics, PortBandwidth());
}

}  // namespace stagecraft
