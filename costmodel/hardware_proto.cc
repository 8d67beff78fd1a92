#include "costmodel/hardware_proto.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Far above any hardware, and small enough that no quotient overflows.
constexpr double kMaxRate = 1e21;
constexpr double kMaxClockHz = 1e12;
constexpr int kMaxMultiprocessors = 1'000'000;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
constexpr int64_t kMaxLatencyNs = 1'000'000'000'000;

// Numbers in errors look as they would in JSON.
template <typename Number>
std::string Text(Number number) {
  return nlohmann::json(number).dump();
}

class Checker {
 public:
  explicit Checker(const std::string& place)
      : prefix_(place + (place.find(": ") == std::string::npos ? ": " : ".")) {}

  [[noreturn]] void Fail(const char* field, const std::string& got, const std::string& want) const {
    throw InputError(prefix_ + field + ": got " + got + ", want " + want);
  }
  template <typename Number>
  Number Within(const char* field, Number value, Number low, Number high) const {
    if (value >= low && value <= high) return value;
    Fail(field, Text(value), "from " + Text(low) + " to " + Text(high));
  }
  FlopRate Rate(const char* field, double value) const {
    return FlopRate(value == 0 ? 0 : Within(field, value, 1.0, kMaxRate));
  }
  FlopRate PositiveRate(const char* field, double value) const {
    return FlopRate(Within(field, value, 1.0, kMaxRate));
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

// The enums count alike, save that the wire starts with "unspecified".
Generation GenerationFromProto(DeviceProto::Generation generation, const Checker& check) {
  if (generation < DeviceProto::PASCAL || generation > DeviceProto::HOST) {
    check.Fail("generation", generation == 0 ? "none" : std::to_string(generation),
               "KEPLER, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL, CDNA2, CDNA3, "
               "CDNA4, GAUDI or HOST");
  }
  return static_cast<Generation>(generation - 1);
}
static_assert(static_cast<int>(Generation::kPascal) + 1 == DeviceProto::PASCAL);
static_assert(static_cast<int>(Generation::kKepler) + 1 == DeviceProto::KEPLER);
static_assert(static_cast<int>(Generation::kHost) + 1 == DeviceProto::HOST);

}  // namespace

Device DeviceFromProto(const DeviceProto& proto, const std::string& place) {
  const Checker check(place);
  if (proto.id().empty()) check.Fail("id", "none", "a name");
  Device device;
  device.id = proto.id();
  device.name = proto.name().empty() ? proto.id() : proto.name();
  device.generation = GenerationFromProto(proto.generation(), check);
  device.multiprocessors =
      check.Within("multiprocessors", proto.multiprocessors(), 1, kMaxMultiprocessors);
  device.boost_clock_hz = check.Within("boost_clock_hz", proto.boost_clock_hz(), 1.0, kMaxClockHz);
  const auto peak = [&](DType dtype) -> FlopRate& { return device.peak[static_cast<int>(dtype)]; };
  peak(DType::kFp32) = check.Rate("fp32_flop_per_s", proto.fp32_flop_per_s());
  peak(DType::kTf32) = check.Rate("tf32_flop_per_s", proto.tf32_flop_per_s());
  peak(DType::kFp16) = check.Rate("fp16_flop_per_s", proto.fp16_flop_per_s());
  peak(DType::kBf16) = check.Rate("bf16_flop_per_s", proto.bf16_flop_per_s());
  peak(DType::kFp8) = check.Rate("fp8_flop_per_s", proto.fp8_flop_per_s());
  if (std::all_of(device.peak.begin(), device.peak.end(),
                  [](FlopRate rate) { return rate == FlopRate(); })) {
    check.Fail("fp32_flop_per_s", "no peak of any format", "one > 0");
  }
  device.vector_peak = check.PositiveRate("vector_fp32_flop_per_s", proto.vector_fp32_flop_per_s());
  // The smallest accepted fraction keeps rates above zero.
  if (proto.training_clock() != 0) {
    device.training_clock = check.Within("training_clock", proto.training_clock(), 1e-3, 1.0);
  }
  device.sustained_fraction =
      check.Within("sustained_fraction", proto.sustained_fraction(), 1e-6, 1.0);
  device.memory = Bytes(check.Within("memory_bytes", proto.memory_bytes(), int64_t{1}, kMaxBytes));
  device.memory_bandwidth = Bandwidth(check.Within(
      "memory_bandwidth_bytes_per_s", proto.memory_bandwidth_bytes_per_s(), 1.0, kMaxRate));
  device.l2 = Bytes(check.Within("l2_bytes", proto.l2_bytes(), int64_t{1}, kMaxBytes));
  return device;
}

Link LinkFromProto(const LinkProto& proto, const std::string& place) {
  const Checker check(place);
  Link link;
  link.kind = KindFromProto(proto.kind(), check);
  link.latency = Duration::Nanoseconds(
      check.Within("latency_ns", proto.latency_ns(), int64_t{0}, kMaxLatencyNs));
  link.bandwidth = Bandwidth(
      check.Within("bandwidth_bytes_per_s", proto.bandwidth_bytes_per_s(), 1.0, kMaxRate));
  return link;
}

DeviceProto ToProto(const Device& device) {
  DeviceProto proto;
  proto.set_id(device.id);
  proto.set_name(device.name);
  proto.set_generation(
      static_cast<DeviceProto::Generation>(static_cast<int>(device.generation) + 1));
  proto.set_multiprocessors(device.multiprocessors);
  proto.set_boost_clock_hz(device.boost_clock_hz);
  proto.set_fp32_flop_per_s(device.Peak(DType::kFp32).flop_per_s());
  proto.set_tf32_flop_per_s(device.Peak(DType::kTf32).flop_per_s());
  proto.set_fp16_flop_per_s(device.Peak(DType::kFp16).flop_per_s());
  proto.set_bf16_flop_per_s(device.Peak(DType::kBf16).flop_per_s());
  proto.set_fp8_flop_per_s(device.Peak(DType::kFp8).flop_per_s());
  proto.set_vector_fp32_flop_per_s(device.vector_peak.flop_per_s());
  proto.set_sustained_fraction(device.sustained_fraction);
  proto.set_training_clock(device.training_clock);
  proto.set_memory_bytes(device.memory.count());
  proto.set_memory_bandwidth_bytes_per_s(device.memory_bandwidth.bytes_per_s());
  proto.set_l2_bytes(device.l2.count());
  return proto;
}

LinkProto ToProto(const Link& link) {
  LinkProto proto;
  proto.set_kind(KindToProto(link.kind));
  proto.set_latency_ns(link.latency.ns());
  proto.set_bandwidth_bytes_per_s(link.bandwidth.bytes_per_s());
  return proto;
}

}  // namespace stagecraft
