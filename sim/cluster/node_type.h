// NodeType: a node as sold, with a number of devices, their wiring, and network interfaces.
#pragma once

#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "sim/cluster/topology/pcie_tree.h"

namespace stagecraft {

// How the devices of one node are joined.
enum class Wiring {
  kSwitched,        // one switch per domain joins any two devices at full width
  kCubeMesh,        // DGX-1V: six links a device, one or two to each of four others
  kAllPairs,        // direct links of equal width between any two
  kPairs,           // bridges between devices 2i and 2i+1
  kPcie,            // one PCIe root; `intra` is a device's port
  kSingleCubeMesh,  // DGX-1P: as kCubeMesh, one link each, four a device
};
const char* Name(Wiring wiring);

struct NodeType {
  std::string id;  // "dgx-h100"
  Device device;
  int devices = 0;
  // Devices that are in the node and are not used.
  int idle_devices = 0;
  Wiring wiring = Wiring::kSwitched;
  // What one device can send to the others of its domain over all its links together, in one
  // direction; the latency is from device to device.
  Link intra;
  // Devices of this node in each scale-up domain; 0 means all, or 2 for kPairs. Traffic between
  // domains, and between devices that a cube mesh does not link, takes `fallback`.
  int domain = 0;
  // How many consecutive nodes of a group share their switch and make one domain: 18 in a GB200
  // NVL72. More than 1 only for kSwitched with a domain of whole nodes.
  int domain_nodes = 1;
  // The PCIe port of a device. If its bandwidth is zero there is none, and the route to a network
  // interface is as wide as the interface.
  Link fallback;
  // Which devices and interfaces are below which PCIe switch. If it is empty, that is not known:
  // there is one root with a port for every device, and each interface is beside the devices that
  // it serves.
  PcieTree pcie;
  int nics = 0;       // if 0, a cluster cannot have several of these nodes
  Link nic;           // one interface, each way; the latency is to the other interface
  bool nvls = false;  // switch multicasts and reduces (NVSwitch 3 and later)

  friend bool operator==(const NodeType&, const NodeType&) = default;
};

inline constexpr int kMaxDevicesPerNode = 1024;

// Returns every problem as "key: got ..., want ..."; nothing if the type can be built.
std::vector<std::string> FindErrors(const NodeType& type);

// Returns `type` with only its first `devices` devices in use. Interfaces that belong to one device
// each become idle with it; shared ones all stay in use. Precondition: 1 <= devices <=
// type.devices.
NodeType UseDevices(const NodeType& type, int devices);

// Returns how many devices of one node share a scale-up domain; never zero.
int DomainSize(const NodeType& type);

// Returns whether any two devices of the node are joined in the same way as any other two.
bool JoinsAlike(const NodeType& type);

}  // namespace stagecraft
