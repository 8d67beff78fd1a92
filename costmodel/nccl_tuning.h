// NcclTuning: the constants of NCCL's own cost model, as NCCL 2.28 publishes them in
// src/graph/tuning.cc and src/graph/topo.h (Apache-2.0): latencies in microseconds, bandwidths in
// GB/s, both as NCCL writes them. docs/cost-model.md says which were checked against the library.
//
// This header has their names only: the values that ship are in data/nccl_2.28.textproto, and a
// calibrated file replaces it as a whole.
#pragma once

#include <array>
#include <string>

#include "costmodel/collective_method.h"
#include "costmodel/device.h"
#include "costmodel/link.h"

namespace stagecraft {

// The generations that have a row of their own, in the order of the table.
inline constexpr std::array kNcclGenerations = {Generation::kPascal, Generation::kVolta,
                                                Generation::kAmpere, Generation::kHopper,
                                                Generation::kBlackwell};
inline constexpr int kNcclGenerationCount = static_cast<int>(kNcclGenerations.size());

// The row that a generation uses, as an index into kNcclGenerations. NCCL decides by compute
// capability: Kepler goes with Pascal (before 7.0), Turing with Volta, Ada with Ampere. RCCL has
// the structure of NCCL, and the library of Gaudi is not public: both take the row of Ampere, the
// newest generation without NVLS, for want of constants of their own. Hosts have no NCCL, and no
// code asks for their row.
constexpr int NcclRow(Generation generation) {
  switch (generation) {
    case Generation::kKepler:
    case Generation::kPascal:
      return 0;
    case Generation::kVolta:
    case Generation::kTuring:
      return 1;
    case Generation::kAmpere:
    case Generation::kAda:
    case Generation::kCdna2:
    case Generation::kCdna3:
    case Generation::kCdna4:
    case Generation::kGaudi:
    case Generation::kHost:
      return 2;
    case Generation::kHopper:
      return 3;
    case Generation::kBlackwell:
      return 4;
  }
  return 0;
}

inline constexpr int kTreeCorrections = 23;

// One value for each protocol: LL, LL128, Simple.
using PerProtocol = std::array<double, kProtocolCount>;
// One value each for one node, two nodes, and more nodes.
using PerNodes = std::array<double, 3>;

struct NcclLatency {
  PerProtocol base_us;
  PerProtocol nvlink_hop_us;
  PerProtocol pcie_hop_us;
  PerProtocol network_hop_us;
  friend bool operator==(const NcclLatency&, const NcclLatency&) = default;
};

struct NcclGeneration {
  // Across nodes NCCL decides by the vendor of the CPU; these are the values for Intel.
  PerNodes ll_max_gb_per_s;
  double ring_ll128_channel_gb_per_s;
  PerNodes tree_ll128_channel_gb_per_s;
  PerNodes tree_channel_gb_per_s;
  // The rate that NCCL counts for one NVLink, over the datasheet's: 20 of 25 GB/s on Ampere.
  double nvlink_efficiency;
  double link_gb_per_s;
  double nvls_efficiency;  // 0: the generation has no NVLS
  friend bool operator==(const NcclGeneration&, const NcclGeneration&) = default;
};

struct NcclTuning {
  std::string version;
  NcclLatency ring = {};
  NcclLatency tree = {};
  double nvls_hop_us = 0;
  PerProtocol network_overhead_us = {};
  std::array<NcclGeneration, kNcclGenerationCount> generation = {};
  // The shares of a link's rate on which NCCL counts.
  double pcie_efficiency = 0;
  double host_efficiency = 0;  // not NCCL's: of PCIe, if messages go through host memory
  // Factors of the bandwidth of trees by message size: one for each doubling from 64 B on.
  std::array<std::array<double, kTreeCorrections>, kProtocolCount> tree_correction = {};

  const NcclGeneration& Of(Generation g) const { return generation[NcclRow(g)]; }
  // The share of a link's nominal bandwidth that messages get.
  double EfficiencyOf(const Link& link, Generation g) const {
    switch (link.kind) {
      case LinkKind::kNvlink:
        return Of(g).nvlink_efficiency;
      case LinkKind::kNetwork:
        return WireEfficiency(StatedOrLikely(link));
      case LinkKind::kHost:
        return host_efficiency;
      case LinkKind::kPcie:
        break;
    }
    return pcie_efficiency;
  }
  friend bool operator==(const NcclTuning&, const NcclTuning&) = default;
};

}  // namespace stagecraft
