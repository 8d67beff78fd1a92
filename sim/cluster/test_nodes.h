// Small node types with round numbers, for tests.
#pragma once

#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/cluster/node_type.h"

namespace stagecraft {

inline Link MakeLink(LinkKind kind, Duration latency, double gigabytes_per_s) {
  return {kind, latency, Bandwidth(gigabytes_per_s * 1e9)};
}

// Eight devices at 400 GB/s, PCIe 50 GB/s, one 40 GB/s interface for each device.
inline NodeType Switched() {
  NodeType type;
  type.id = "switched";
  type.device.id = "gpu";
  type.devices = 8;
  type.intra = MakeLink(LinkKind::kNvlink, 1_us, 400);
  type.fallback = MakeLink(LinkKind::kPcie, 2_us, 50);
  type.nics = 8;
  type.nic = MakeLink(LinkKind::kNetwork, 5_us, 40);
  type.nvls = true;
  return type;
}

// Six links of 25 GB/s for each device, PCIe 16 GB/s, one 10 GB/s interface for all.
inline NodeType CubeMeshNode() {
  NodeType type = Switched();
  type.id = "cube";
  type.wiring = Wiring::kCubeMesh;
  type.intra = MakeLink(LinkKind::kNvlink, 1_us, 150);
  type.fallback = MakeLink(LinkKind::kPcie, 2_us, 16);
  type.nics = 1;
  type.nic = MakeLink(LinkKind::kNetwork, 5_us, 10);
  type.nvls = false;
  return type;
}

// Two bridged pairs of 300 GB/s.
inline NodeType Pairs() {
  NodeType type = CubeMeshNode();
  type.id = "pairs";
  type.wiring = Wiring::kPairs;
  type.devices = 4;
  type.intra = MakeLink(LinkKind::kNvlink, 1_us, 300);
  return type;
}

// Four devices in a node, two nodes on a switch; otherwise like Switched().
inline NodeType Rack() {
  NodeType type = Switched();
  type.id = "rack";
  type.devices = 4;
  type.nics = 4;
  type.domain_nodes = 2;
  return type;
}

inline double GigabytesPerSecond(const Link& link) { return link.bandwidth.bytes_per_s() * 1e-9; }

inline std::vector<int> Range(int first, int count, int stride = 1) {
  std::vector<int> devices(count);
  for (int i = 0; i < count; ++i) devices[i] = first + i * stride;
  return devices;
}

}  // namespace stagecraft
