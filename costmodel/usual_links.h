// The properties that links inside nodes are assumed to have if a source states none: latencies and
// PCIe rates of the node catalogue (data/README.md, nodes.textproto). Those between nodes:
// network_kind.h.
#pragma once

#include "costmodel/check.h"
#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {

// Latencies from device to device.
inline constexpr Duration kNvlinkLatency = 600_ns;
inline constexpr Duration kPcieLatency = 1000_ns;

// 16 lanes of a PCIe generation from 1 to 6, raw after encoding, one direction.
constexpr Bandwidth PcieBandwidth(int generation) {
  CHECK(generation >= 1 && generation <= 6);
  constexpr double kRaw[] = {4e9, 8e9, 15.75e9, 31.5e9, 63e9, 126e9};
  return Bandwidth(kRaw[generation - 1]);
}

// What joins GPUs that cannot reach the memory of each other over PCIe: a message goes down to host
// memory over one link and up again over another. The rate is that of a PCIe 3 link with newer GPUs
// as well, because the host's copies are the bottleneck.
inline Link LinkThroughHost() { return {LinkKind::kHost, kPcieLatency, PcieBandwidth(3)}; }

// Networks are sold by the Gbit/s.
inline constexpr double kBytesPerGbit = 1e9 / 8;
constexpr Bandwidth FromGbit(double gbit_per_s) { return Bandwidth(gbit_per_s * kBytesPerGbit); }
constexpr double ToGbit(Bandwidth bandwidth) { return bandwidth.bytes_per_s() / kBytesPerGbit; }

}  // namespace stagecraft
