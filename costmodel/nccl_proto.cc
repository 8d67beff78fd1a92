#include "costmodel/nccl_proto.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"

namespace stagecraft {
namespace {

constexpr char kEmbeddedName[] = "nccl_2.28.textproto";
// The range of a latency, whether of one step of an algorithm or of the start of a call: from a
// nanosecond to a second.
constexpr double kLeastMicroseconds = 1e-3;
constexpr double kMostMicroseconds = 1e6;
// The range of LinkBandwidthRange(), in GB/s.
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e4;
constexpr double kLeastShare = 1e-3;  // of a rate that is reached

// Written so that NaN fails.
double Within(double low, double high, double value, const std::string& place) {
  if (value >= low && value <= high) return value;
  throw InputError(fmt::format("{}: got {}, want from {:g} to {:g}", place, value, low, high));
}

double Microseconds(double value, const std::string& place) {
  return Within(kLeastMicroseconds, kMostMicroseconds, value, place);
}
double Rate(double value, const std::string& place) {
  return Within(kLeastRate, kMostRate, value, place);
}
double Share(double value, const std::string& place) {
  return Within(kLeastShare, 1, value, place);
}

PerProtocol FromProto(const NcclProtocolsProto& proto, const std::string& place) {
  return {Microseconds(proto.ll(), place + ".ll"), Microseconds(proto.ll128(), place + ".ll128"),
          Microseconds(proto.simple(), place + ".simple")};
}

PerNodes FromProto(const NcclByNodesProto& proto, const std::string& place) {
  return {Rate(proto.one(), place + ".one"), Rate(proto.two(), place + ".two"),
          Rate(proto.more(), place + ".more")};
}

NcclLatency FromProto(const NcclLatencyProto& proto, const std::string& place) {
  return {FromProto(proto.base_us(), place + ".base_us"),
          FromProto(proto.nvlink_hop_us(), place + ".nvlink_hop_us"),
          FromProto(proto.pcie_hop_us(), place + ".pcie_hop_us"),
          FromProto(proto.network_hop_us(), place + ".network_hop_us")};
}

NcclGeneration FromProto(const NcclGenerationProto& proto, const std::string& place) {
  NcclGeneration generation;
  generation.ll_max_gb_per_s = FromProto(proto.ll_max_gb_per_s(), place + ".ll_max_gb_per_s");
  generation.ring_ll128_channel_gb_per_s =
      Rate(proto.ring_ll128_channel_gb_per_s(), place + ".ring_ll128_channel_gb_per_s");
  generation.tree_ll128_channel_gb_per_s =
      FromProto(proto.tree_ll128_channel_gb_per_s(), place + ".tree_ll128_channel_gb_per_s");
  generation.tree_channel_gb_per_s =
      FromProto(proto.tree_channel_gb_per_s(), place + ".tree_channel_gb_per_s");
  generation.nvlink_efficiency = Share(proto.nvlink_efficiency(), place + ".nvlink_efficiency");
  generation.link_gb_per_s = Rate(proto.link_gb_per_s(), place + ".link_gb_per_s");
  const double nvls = proto.nvls_efficiency();  // zero if the generation has no NVLS
  generation.nvls_efficiency = nvls == 0 ? 0 : Share(nvls, place + ".nvls_efficiency");
  return generation;
}

void ReadGenerations(const NcclTuningProto& proto, const std::string& place, NcclTuning& tuning) {
  std::array<bool, kNcclGenerationCount> seen = {};
  for (int i = 0; i < proto.generation_size(); ++i) {
    const std::string at = fmt::format("{}generation[{}]", place, i);
    const std::string& name = proto.generation(i).generation();
    std::optional<int> index;
    for (int g = 0; g < kNcclGenerationCount; ++g) {
      if (name == Name(kNcclGenerations[g])) index = g;
    }
    if (!index || seen[*index]) {
      throw InputError(fmt::format(
          "{}.generation: got \"{}\", want pascal, volta, ampere, hopper, blackwell, once each", at,
          name));
    }
    seen[*index] = true;
    tuning.generation[*index] = FromProto(proto.generation(i), at);
  }
  for (int g = 0; g < kNcclGenerationCount; ++g) {
    if (seen[g]) continue;
    throw InputError(
        fmt::format("{}generation: got none for {}", place, Name(kNcclGenerations[g])));
  }
}

template <typename Repeated>
std::array<double, kTreeCorrections> Corrections(const Repeated& values, const std::string& place) {
  if (values.size() != kTreeCorrections) {
    throw InputError(
        fmt::format("{}: got {} numbers, want {}", place, values.size(), kTreeCorrections));
  }
  std::array<double, kTreeCorrections> result;
  for (int i = 0; i < kTreeCorrections; ++i) {
    result[i] = Share(values[i], fmt::format("{}[{}]", place, i));
  }
  return result;
}

}  // namespace

NcclTuning NcclTuningFromProto(const NcclTuningProto& proto, const std::string& file) {
  const std::string place = file + ": ";
  NcclTuning tuning;
  if (proto.version().empty()) throw InputError(place + "version: got nothing, want a name");
  tuning.version = proto.version();
  tuning.ring = FromProto(proto.ring(), place + "ring");
  tuning.tree = FromProto(proto.tree(), place + "tree");
  tuning.nvls_hop_us = Microseconds(proto.nvls_hop_us(), place + "nvls_hop_us");
  tuning.network_overhead_us =
      FromProto(proto.network_overhead_us(), place + "network_overhead_us");
  ReadGenerations(proto, place, tuning);
  tuning.pcie_efficiency = Share(proto.pcie_efficiency(), place + "pcie_efficiency");
  tuning.host_efficiency = Share(proto.host_efficiency(), place + "host_efficiency");
  tuning.tree_correction = {
      Corrections(proto.tree_correction_ll(), place + "tree_correction_ll"),
      Corrections(proto.tree_correction_ll128(), place + "tree_correction_ll128"),
      Corrections(proto.tree_correction_simple(), place + "tree_correction_simple")};
  return tuning;
}

NcclTuning ParseNcclTuning(const std::string& text, const std::string& file) {
  NcclTuningProto proto;
  ParseProtoText(text, file, ".textproto", &proto);
  return NcclTuningFromProto(proto, file);
}

const NcclTuning& EmbeddedNcclTuning() {
  static const NcclTuning tuning =
      ParseNcclTuning(std::string(EmbeddedFile(kEmbeddedName)), kEmbeddedName);
  return tuning;
}

}  // namespace stagecraft
