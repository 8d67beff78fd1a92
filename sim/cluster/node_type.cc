#include "sim/cluster/node_type.h"

#include <algorithm>

#include "costmodel/check.h"
#include "sim/cluster/topology/wrong_number.h"

namespace stagecraft {
namespace {

constexpr int kCubeMeshDevices = 8;
constexpr int kMaxAllPairs = 64;
constexpr int kMaxNics = 1024;
constexpr int kMaxDomainNodes = 1024;

bool IsCubeMesh(Wiring wiring) {
  return wiring == Wiring::kCubeMesh || wiring == Wiring::kSingleCubeMesh;
}

int MaxDevices(Wiring wiring) {
  if (IsCubeMesh(wiring)) return kCubeMeshDevices;
  if (wiring == Wiring::kAllPairs) return kMaxAllPairs;
  return kMaxDevicesPerNode;
}

bool NeedsFallback(const NodeType& type) {
  return IsCubeMesh(type.wiring) || DomainSize(type) < type.devices;
}

}  // namespace

const char* Name(Wiring wiring) {
  switch (wiring) {
    case Wiring::kSwitched:
      return "switched";
    case Wiring::kCubeMesh:
      return "cube-mesh";
    case Wiring::kAllPairs:
      return "all-pairs";
    case Wiring::kPairs:
      return "pairs";
    case Wiring::kPcie:
      return "pcie";
    case Wiring::kSingleCubeMesh:
      return "single-cube-mesh";
  }
  return "";
}

int DomainSize(const NodeType& type) {
  if (type.domain > 0) return std::min(type.domain, type.devices);
  return type.wiring == Wiring::kPairs ? std::min(2, type.devices) : type.devices;
}

bool JoinsAlike(const NodeType& type) {
  if (type.devices <= 2) return true;
  switch (type.wiring) {
    case Wiring::kSwitched:
      return DomainSize(type) == type.devices;
    case Wiring::kAllPairs:
      return true;
    case Wiring::kPcie:
      return type.pcie.switches() <= 1;
    case Wiring::kCubeMesh:
    case Wiring::kPairs:
    case Wiring::kSingleCubeMesh:
      break;
  }
  return false;
}

std::vector<std::string> FindErrors(const NodeType& type) {
  std::vector<std::string> errors;
  const int most = MaxDevices(type.wiring);
  if (type.devices < 1 || type.devices > most) {
    errors.push_back(
        WrongNumber("devices", type.devices,
                    "from 1 to " + std::to_string(most) + " with wiring " + Name(type.wiring)));
  }
  if (type.domain < 0 || type.domain > std::max(type.devices, 2)) {
    errors.push_back(WrongNumber("domain", type.domain, "from 0 to the node's number of devices"));
  } else if (type.domain != 0 && type.domain != type.devices) {
    if (type.wiring == Wiring::kPairs && type.domain != 2) {
      errors.push_back(WrongNumber("domain", type.domain, "2 with wiring pairs"));
    } else if (type.wiring != Wiring::kPairs && type.wiring != Wiring::kSwitched) {
      errors.push_back(WrongNumber("domain", type.domain,
                                   std::string("all devices with wiring ") + Name(type.wiring)));
    }
  }
  if (type.domain_nodes < 1 || type.domain_nodes > kMaxDomainNodes) {
    errors.push_back(WrongNumber("domain_nodes", type.domain_nodes,
                                 "from 1 to " + std::to_string(kMaxDomainNodes)));
  } else if (type.domain_nodes > 1 &&
             (type.wiring != Wiring::kSwitched || DomainSize(type) < type.devices)) {
    errors.push_back(WrongNumber("domain_nodes", type.domain_nodes,
                                 "1 unless one switch joins all devices of the node"));
  }
  if (!(type.intra.bandwidth.bytes_per_s() > 0)) {
    errors.push_back("intra: got no bandwidth, want > 0");
  }
  if (errors.empty() && NeedsFallback(type) && !(type.fallback.bandwidth.bytes_per_s() > 0)) {
    errors.push_back("fallback: got no bandwidth, want > 0 if not all devices are joined");
  }
  if (type.nics < 0 || type.nics > kMaxNics) {
    errors.push_back(WrongNumber("nics", type.nics, "from 0 to " + std::to_string(kMaxNics)));
  }
  if (type.nics > 0 && !(type.nic.bandwidth.bytes_per_s() > 0)) {
    errors.push_back("nic: got no bandwidth, want > 0 for a node with interfaces");
  }
  for (const std::string& error : FindErrors(type.pcie, type.devices, type.nics)) {
    errors.push_back("pcie." + error);
  }
  if (!type.pcie.empty() && type.wiring != Wiring::kPcie &&
      !(type.fallback.bandwidth.bytes_per_s() > 0)) {
    errors.push_back("fallback: got no bandwidth, want > 0 for the ports of a PCIe tree");
  }
  if (type.nvls && type.wiring != Wiring::kSwitched) {
    errors.push_back(std::string("nvls: got true, want false with wiring ") + Name(type.wiring));
  }
  return errors;
}

NodeType UseDevices(const NodeType& type, int devices) {
  CHECK(devices >= 1 && devices <= type.devices);
  NodeType used = type;
  used.devices = devices;
  used.idle_devices += type.devices - devices;
  used.domain = std::min(DomainSize(type), devices);
  if (devices == type.devices) return used;
  if (type.nics >= type.devices && type.nics % type.devices == 0) {
    used.nics = type.nics / type.devices * devices;
  }
  if (!type.pcie.empty()) {
    used.pcie.device_switch.resize(devices);
    used.pcie.nic_switch.resize(used.nics);
  }
  // The links to idle devices carry nothing.
  if (type.wiring == Wiring::kAllPairs && devices > 1) {
    used.intra.bandwidth =
        (static_cast<double>(devices - 1) / (type.devices - 1)) * type.intra.bandwidth;
  }
  return used;
}

}  // namespace stagecraft
