#include "costmodel/hardware_proto.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/physical_range.h"

namespace stagecraft {
namespace {

constexpr int kMostCollectiveBlocks = 64;

// Formats numbers in errors as they would look in JSON.
template <typename Number>
std::string Text(Number number) {
  return nlohmann::json(number).dump();
}

class Checker {
 public:
  explicit Checker(const std::string& place)
      : prefix_(place + (place.find(": ") == std::string::npos ? ": " : ".")) {}

  // Names all keys that are missing if there are several.
  void CheckMissing(const MissingKeys& missing) const { missing.Check(prefix_); }

  [[noreturn]] void Fail(const char* field, const std::string& got, const std::string& want) const {
    throw InputError(prefix_ + field + ": got " + got + ", want " + want);
  }
  template <typename Number>
  Number Within(const char* field, Number value, Number low, Number high) const {
    if (value >= low && value <= high) return value;
    Fail(field, Text(value), "from " + Text(low) + " to " + Text(high));
  }
  double Physical(const char* field, double value, const PhysicalRange& range) const {
    return CheckPhysical(prefix_ + field, value, range);
  }
  // Returns the value as whole bytes.
  Bytes Size(const char* field, int64_t value, const PhysicalRange& range) const {
    Physical(field, static_cast<double>(value), range);
    return Bytes(value);
  }
  // Returns a rate, which is zero if the hardware has none.
  FlopRate Rate(const char* field, double value) const {
    return FlopRate(value == 0 ? 0 : Physical(field, value, FlopRateRange()));
  }

 private:
  std::string prefix_;
};

LinkKind KindFromProto(LinkProto::Kind kind, const Checker& check) {
  switch (kind) {
    case LinkProto::NVLINK:
      return LinkKind::kNvlink;
    case LinkProto::PCIE:
      return LinkKind::kPcie;
    case LinkProto::NETWORK:
      return LinkKind::kNetwork;
    case LinkProto::HOST:
      return LinkKind::kHost;
    default:
      check.Fail("kind", kind == 0 ? "none" : std::to_string(kind),
                 "NVLINK, PCIE, NETWORK or HOST");
  }
}

LinkProto::Kind KindToProto(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvlink:
      return LinkProto::NVLINK;
    case LinkKind::kPcie:
      return LinkProto::PCIE;
    case LinkKind::kNetwork:
      return LinkProto::NETWORK;
    case LinkKind::kHost:
      return LinkProto::HOST;
  }
  return LinkProto::KIND_UNSPECIFIED;
}

static_assert(static_cast<int>(NetworkKind::kUnstated) == LinkProto::UNSTATED);
static_assert(static_cast<int>(NetworkKind::kEthernet) == LinkProto::ETHERNET);

NetworkKind NetworkFromProto(LinkProto::Network network, LinkKind kind, const Checker& check) {
  if (network < LinkProto::UNSTATED || network > LinkProto::ETHERNET) {
    check.Fail("network", std::to_string(network),
               "INFINIBAND, ROCE, EFA, SLINGSHOT, OMNI_PATH, CLOUD_TCP or ETHERNET");
  }
  if (network != LinkProto::UNSTATED && kind != LinkKind::kNetwork) {
    check.Fail("network", LinkProto::Network_Name(network),
               "none for a link of kind " + LinkProto::Kind_Name(KindToProto(kind)));
  }
  return static_cast<NetworkKind>(network);
}

// Reads the one of three fields that is given.
Bandwidth BandwidthFromProto(const LinkProto& proto, const Checker& check) {
  const double gigabytes = proto.bandwidth_gb_per_s(), gigabits = proto.bandwidth_gbit_per_s();
  const int given = (proto.bandwidth_bytes_per_s() != 0) + (gigabytes != 0) + (gigabits != 0);
  if (given > 1) {
    check.Fail("bandwidth_bytes_per_s", "more than one bandwidth",
               "one of bandwidth_bytes_per_s, bandwidth_gb_per_s and bandwidth_gbit_per_s");
  }
  if (gigabytes != 0) {
    return Bandwidth(1e9 * check.Within("bandwidth_gb_per_s", gigabytes, 1e-3, 1e4));
  }
  if (gigabits != 0) {
    return Bandwidth(1e9 / 8 * check.Within("bandwidth_gbit_per_s", gigabits, 8e-3, 8e4));
  }
  return Bandwidth(
      check.Physical("bandwidth_bytes_per_s", proto.bandwidth_bytes_per_s(), LinkBandwidthRange()));
}

// Both enums have the same values in the same order, but the proto begins with "unspecified".
Generation GenerationFromProto(DeviceProto::Generation generation, const Checker& check) {
  if (generation < DeviceProto::PASCAL || generation > DeviceProto::HOST) {
    check.Fail("generation", generation == 0 ? "none" : std::to_string(generation),
               "KEPLER, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL, CDNA2, CDNA3, "
               "CDNA4, GAUDI or HOST");
  }
  return static_cast<Generation>(generation - 1);
}

MemoryKind MemoryKindFromProto(DeviceProto::MemoryKind kind, const Checker& check) {
  if (kind < DeviceProto::MEMORY_KIND_UNSPECIFIED || kind > DeviceProto::GDDR) {
    check.Fail("memory_kind", std::to_string(kind), "HBM or GDDR");
  }
  return kind == DeviceProto::GDDR ? MemoryKind::kGddr : MemoryKind::kHbm;
}
static_assert(static_cast<int>(Generation::kPascal) + 1 == DeviceProto::PASCAL);
static_assert(static_cast<int>(Generation::kKepler) + 1 == DeviceProto::KEPLER);
static_assert(static_cast<int>(Generation::kHost) + 1 == DeviceProto::HOST);

}  // namespace

MissingKeys MissingIn(const DeviceProto& proto) {
  const bool has_peak = proto.fp32_flop_per_s() != 0 || proto.tf32_flop_per_s() != 0 ||
                        proto.fp16_flop_per_s() != 0 || proto.bf16_flop_per_s() != 0 ||
                        proto.fp8_flop_per_s() != 0 || proto.nvfp4_flop_per_s() != 0;
  MissingKeys missing;
  missing.Want("id", !proto.id().empty());
  missing.Want("generation", proto.generation() != DeviceProto::GENERATION_UNSPECIFIED);
  missing.Want("multiprocessors", proto.multiprocessors() != 0);
  missing.Want("boost_clock_hz", proto.boost_clock_hz() != 0);
  missing.Want("fp32_flop_per_s", has_peak);
  missing.Want("vector_fp32_flop_per_s", proto.vector_fp32_flop_per_s() != 0);
  missing.Want("memory_bytes", proto.memory_bytes() != 0);
  missing.Want("memory_bandwidth_bytes_per_s", proto.memory_bandwidth_bytes_per_s() != 0);
  missing.Want("l2_bytes", proto.l2_bytes() != 0);
  missing.Want("power_w", proto.power_w() != 0 || proto.generation() == DeviceProto::HOST);
  return missing;
}

MissingKeys MissingIn(const LinkProto& proto) {
  MissingKeys missing;
  missing.Want("kind", proto.kind() != LinkProto::KIND_UNSPECIFIED);
  missing.Want("bandwidth_bytes_per_s", proto.bandwidth_bytes_per_s() != 0 ||
                                            proto.bandwidth_gb_per_s() != 0 ||
                                            proto.bandwidth_gbit_per_s() != 0);
  return missing;
}

Device DeviceFromProto(const DeviceProto& proto, const std::string& place) {
  const Checker check(place);
  check.CheckMissing(MissingIn(proto));
  if (proto.id().empty()) check.Fail("id", "none", "a name");
  Device device;
  device.id = proto.id();
  device.name = proto.name().empty() ? proto.id() : proto.name();
  device.generation = GenerationFromProto(proto.generation(), check);
  device.multiprocessors = static_cast<int>(
      check.Physical("multiprocessors", proto.multiprocessors(), MultiprocessorRange()));
  device.boost_clock_hz = check.Physical("boost_clock_hz", proto.boost_clock_hz(), ClockRange());
  const auto peak = [&](DType dtype) -> FlopRate& { return device.peak[static_cast<int>(dtype)]; };
  peak(DType::kFp32) = check.Rate("fp32_flop_per_s", proto.fp32_flop_per_s());
  peak(DType::kTf32) = check.Rate("tf32_flop_per_s", proto.tf32_flop_per_s());
  peak(DType::kFp16) = check.Rate("fp16_flop_per_s", proto.fp16_flop_per_s());
  peak(DType::kBf16) = check.Rate("bf16_flop_per_s", proto.bf16_flop_per_s());
  peak(DType::kFp8) = check.Rate("fp8_flop_per_s", proto.fp8_flop_per_s());
  peak(DType::kNvfp4) = check.Rate("nvfp4_flop_per_s", proto.nvfp4_flop_per_s());
  if (std::all_of(device.peak.begin(), device.peak.end(),
                  [](FlopRate rate) { return rate == FlopRate(); })) {
    check.Fail("fp32_flop_per_s", "no peak of any format", "one > 0");
  }
  device.vector_peak = FlopRate(
      check.Physical("vector_fp32_flop_per_s", proto.vector_fp32_flop_per_s(), FlopRateRange()));
  // The smallest fractions that are accepted are far below those of any hardware.
  device.clock_share =
      proto.clock_share() == 0 ? 1 : check.Within("clock_share", proto.clock_share(), 0.1, 1.0);
  if (proto.has_convolution_share()) {
    device.convolution_share =
        check.Within("convolution_share", proto.convolution_share(), 0.01, 1.0);
  }
  if (proto.has_unaligned_flop_per_clock()) {
    device.unaligned_flop_per_clock =
        check.Within("unaligned_flop_per_clock", proto.unaligned_flop_per_clock(), 0.0, 1e6);
  }
  device.is_busy = !proto.pauses();
  if (proto.has_collective_blocks()) {
    device.collective_blocks =
        check.Within("collective_blocks", proto.collective_blocks(), 0, kMostCollectiveBlocks);
  }
  if (proto.has_host_dispatch_ns()) {
    const auto latency = static_cast<double>(proto.host_dispatch_ns());
    check.Physical("host_dispatch_ns", latency, LatencyRange());
    device.host_dispatch = Duration::Nanoseconds(proto.host_dispatch_ns());
  }
  device.memory = check.Size("memory_bytes", proto.memory_bytes(), MemoryRange());
  device.memory_bandwidth =
      Bandwidth(check.Physical("memory_bandwidth_bytes_per_s", proto.memory_bandwidth_bytes_per_s(),
                               MemoryBandwidthRange()));
  device.memory_kind = MemoryKindFromProto(proto.memory_kind(), check);
  if (proto.exponentials_per_clock() != 0) {
    device.exponentials_per_clock =
        check.Within("exponentials_per_clock", proto.exponentials_per_clock(), 1.0, 1024.0);
  }
  device.l2 = check.Size("l2_bytes", proto.l2_bytes(), CacheRange());
  if (device.generation != Generation::kHost || proto.power_w() != 0) {
    device.power_w = check.Physical("power_w", proto.power_w(), PowerRange());
  }
  device.sustained_fraction =
      proto.sustained_fraction() == 0
          ? 0
          : check.Within("sustained_fraction", proto.sustained_fraction(), 0.01, 1.0);
  return device;
}

Link LinkFromProto(const LinkProto& proto, const std::string& place) {
  const Checker check(place);
  check.CheckMissing(MissingIn(proto));
  Link link;
  link.kind = KindFromProto(proto.kind(), check);
  link.network = NetworkFromProto(proto.network(), link.kind, check);
  check.Physical("latency_ns", static_cast<double>(proto.latency_ns()), LatencyRange());
  const bool is_usual = !proto.has_latency_ns() && link.network != NetworkKind::kUnstated;
  link.latency = is_usual ? UsualLatency(link.network) : Duration::Nanoseconds(proto.latency_ns());
  link.bandwidth = BandwidthFromProto(proto, check);
  return link;
}

DeviceProto ToProto(const Device& device) {
  DeviceProto proto;
  proto.set_id(device.id);
  proto.set_name(device.name);
  proto.set_generation(EnumToProto<DeviceProto::Generation>(device.generation));
  proto.set_multiprocessors(device.multiprocessors);
  proto.set_boost_clock_hz(device.boost_clock_hz);
  proto.set_fp32_flop_per_s(device.Peak(DType::kFp32).flop_per_s());
  proto.set_tf32_flop_per_s(device.Peak(DType::kTf32).flop_per_s());
  proto.set_fp16_flop_per_s(device.Peak(DType::kFp16).flop_per_s());
  proto.set_bf16_flop_per_s(device.Peak(DType::kBf16).flop_per_s());
  proto.set_fp8_flop_per_s(device.Peak(DType::kFp8).flop_per_s());
  proto.set_nvfp4_flop_per_s(device.Peak(DType::kNvfp4).flop_per_s());
  proto.set_vector_fp32_flop_per_s(device.vector_peak.flop_per_s());
  proto.set_sustained_fraction(device.sustained_fraction);
  if (device.convolution_share != kUsualConvolutionShare) {
    proto.set_convolution_share(device.convolution_share);
  }
  if (device.unaligned_flop_per_clock != kUsualUnalignedFlopPerClock) {
    proto.set_unaligned_flop_per_clock(device.unaligned_flop_per_clock);
  }
  proto.set_clock_share(device.clock_share);
  proto.set_pauses(!device.is_busy);
  proto.set_collective_blocks(device.collective_blocks);
  if (device.host_dispatch) proto.set_host_dispatch_ns(device.host_dispatch->ns());
  proto.set_memory_bytes(device.memory.count());
  proto.set_memory_bandwidth_bytes_per_s(device.memory_bandwidth.bytes_per_s());
  proto.set_l2_bytes(device.l2.count());
  if (device.exponentials_per_clock != kUsualExponentials) {
    proto.set_exponentials_per_clock(device.exponentials_per_clock);
  }
  if (device.generation != Generation::kHost) {
    proto.set_memory_kind(EnumToProto<DeviceProto::MemoryKind>(device.memory_kind));
    proto.set_power_w(device.power_w);
  }
  return proto;
}

LinkProto ToProto(const Link& link) {
  LinkProto proto;
  proto.set_kind(KindToProto(link.kind));
  proto.set_latency_ns(link.latency.ns());
  proto.set_bandwidth_bytes_per_s(link.bandwidth.bytes_per_s());
  proto.set_network(static_cast<LinkProto::Network>(link.network));
  return proto;
}

}  // namespace stagecraft
