// NetworkKind: what the interfaces between nodes speak, and what is usual for each kind
// (docs/network.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

enum class NetworkKind {
  kUnstated,
  kInfiniband,
  kRoce,       // RDMA over Ethernet
  kEfa,        // AWS's adapter, by libfabric
  kSlingshot,  // HPE's, by libfabric
  kOmniPath,
  kCloudTcp,  // sockets over the virtual network of a cloud: ENA, gVNIC
  kEthernet,  // sockets over Ethernet
};
inline constexpr int kNetworkKindCount = 8;

// Returns the word for files of measurements and output: "infiniband", "cloud-tcp".
const char* Name(NetworkKind kind);
// The same for people: "InfiniBand", "TCP of a cloud".
const char* Title(NetworkKind kind);
// Finds the kind of this word.
std::optional<NetworkKind> FindNetworkKind(std::string_view word);

// Finds the kind by the short word that measured rows and --transport use: "ib", "roce", "efa",
// "slingshot", "opa", "gvnic" or "tcp".
std::optional<NetworkKind> FindTransport(std::string_view word);
// Returns these words.
std::vector<std::string> TransportWords();

// Returns the words of all kinds that a user can state.
std::vector<std::string> NetworkKindWords();

// Whether the interfaces read and write memory without the host's processors. Kinds that do, and
// kinds that do not, behave alike as long as nothing else is known of them.
bool HasRdma(NetworkKind kind);

// Returns how long one message takes from the memory of a GPU to that of one on another node, for
// files that do not say it. The latencies of InfiniBand, EFA and sockets are those of the node
// catalogue; each of two Ethernet switches is assumed to take half a microsecond longer than one
// for InfiniBand; the rest are assumptions.
Duration UsualLatency(NetworkKind kind);

// Returns the kind that a latency suggests for a network whose kind is not stated: RDMA takes a few
// microseconds, sockets take longer.
NetworkKind LikelyKind(Duration latency);

// Returns the share of the raw bandwidth that large messages get; CHECKs that the kind is stated.
// The peaks in a talk of NCCL's authors (GTC 2024) are 24 of 25 and 48 of 50 GB/s with RDMA, where
// 0.9 is assumed to last, and 10 of 12.5 GB/s with sockets. EFA, Slingshot and Omni-Path were not
// measured for us: they are assumed to be like other RDMA.
double WireEfficiency(NetworkKind kind);

}  // namespace stagecraft
