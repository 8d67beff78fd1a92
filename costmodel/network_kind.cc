#include "costmodel/network_kind.h"

#include <iterator>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

struct Entry {
  const char* name;
  const char* title;
  bool has_rdma;
  Duration latency;
  double efficiency;
};

// The entries are in the order of the enum. The latency of an unstated kind is InfiniBand's.
constexpr Entry kEntries[] = {
    {"unstated", "a network of no stated kind", true, 2700_ns, 0},
    {"infiniband", "InfiniBand", true, 2700_ns, 0.9},
    {"roce", "RoCE", true, 3700_ns, 0.9},
    {"efa", "EFA", true, 15000_ns, 0.9},
    {"slingshot", "Slingshot", true, 3700_ns, 0.9},
    {"omni-path", "Omni-Path", true, 3700_ns, 0.9},
    {"cloud-tcp", "TCP of a cloud", false, 25000_ns, 0.8},
    {"ethernet", "Ethernet", false, 25000_ns, 0.8},
};
static_assert(std::size(kEntries) == kNetworkKindCount);

constexpr std::pair<std::string_view, NetworkKind> kTransports[] = {
    {"ib", NetworkKind::kInfiniband}, {"roce", NetworkKind::kRoce},
    {"efa", NetworkKind::kEfa},       {"slingshot", NetworkKind::kSlingshot},
    {"opa", NetworkKind::kOmniPath},  {"gvnic", NetworkKind::kCloudTcp},
    {"tcp", NetworkKind::kEthernet},
};

const Entry& EntryOf(NetworkKind kind) { return kEntries[static_cast<int>(kind)]; }

}  // namespace

const char* Name(NetworkKind kind) { return EntryOf(kind).name; }
const char* Title(NetworkKind kind) { return EntryOf(kind).title; }

std::optional<NetworkKind> FindTransport(std::string_view word) {
  for (const auto& [name, kind] : kTransports) {
    if (word == name) return kind;
  }
  return std::nullopt;
}

std::vector<std::string> TransportWords() {
  std::vector<std::string> words;
  for (const auto& [name, kind] : kTransports) words.emplace_back(name);
  return words;
}

std::optional<NetworkKind> FindNetworkKind(std::string_view word) {
  for (int i = 0; i < kNetworkKindCount; ++i) {
    if (word == kEntries[i].name) return static_cast<NetworkKind>(i);
  }
  return std::nullopt;
}

std::vector<std::string> NetworkKindWords() {
  std::vector<std::string> words;
  for (int i = 1; i < kNetworkKindCount; ++i) words.emplace_back(kEntries[i].name);
  return words;
}

bool HasRdma(NetworkKind kind) { return EntryOf(kind).has_rdma; }
Duration UsualLatency(NetworkKind kind) { return EntryOf(kind).latency; }
double WireEfficiency(NetworkKind kind) {
  CHECK(kind != NetworkKind::kUnstated);
  return EntryOf(kind).efficiency;
}

NetworkKind LikelyKind(Duration latency) {
  constexpr Duration kMostOfRdma = 10_us;
  return latency <= kMostOfRdma ? NetworkKind::kInfiniband : NetworkKind::kEthernet;
}

}  // namespace stagecraft
