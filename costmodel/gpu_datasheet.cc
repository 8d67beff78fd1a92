#include "costmodel/gpu_datasheet.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/hardware_proto.h"

namespace stagecraft {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
constexpr double kGibi = 1 << 30;
constexpr double kMebi = 1 << 20;

// Returns what stands before a key: "gpu.yaml: ", or "c.yaml: node_types[0].datasheet.".
std::string PrefixOf(const std::string& place) {
  return place + (place.find(": ") == std::string::npos ? ": " : ".");
}

class Reader {
 public:
  explicit Reader(const std::string& place) : prefix_(PrefixOf(place)) {}

  // Written so that NaN fails.
  double Get(const char* key, double value, double low, double high, const char* unit) const {
    if (value >= low && value <= high) return value;
    throw InputError(fmt::format("{}{}: got {}, want from {} to {} {}", prefix_, key,
                                 value == 0 ? "none" : fmt::format("{}", value), low, high, unit));
  }
  double Rate(const char* key, double value) const {
    return Get(key, value, 1e-3, 1e5, "TFLOP/s") * kTera;
  }
  // Zero stands for a rate that the hardware does not have.
  double RateOrNone(const char* key, double value) const {
    return value == 0 ? 0 : Rate(key, value);
  }

 private:
  const std::string prefix_;
};

}  // namespace

MissingKeys MissingIn(const GpuDatasheetProto& proto) {
  MissingKeys missing;
  missing.Want("id", !proto.id().empty());
  missing.Want("generation", proto.generation() != 0);
  missing.Want("multiprocessors", proto.multiprocessors() != 0);
  missing.Want("boost_clock_mhz", proto.boost_clock_mhz() != 0);
  missing.Want("power_w", proto.power_w() != 0);
  missing.Want("fp32_tflops", proto.fp32_tflops() != 0);
  missing.Want("memory_gb", proto.memory_gb() != 0);
  missing.Want("memory_gb_per_s", proto.memory_gb_per_s() != 0);
  missing.Want("l2_mb", proto.l2_mb() != 0);
  return missing;
}

Device DeviceFromDatasheet(const GpuDatasheetProto& proto, const std::string& place) {
  MissingIn(proto).Check(PrefixOf(place));
  const Reader read(place);
  DeviceProto device;
  device.set_id(proto.id());
  device.set_name(proto.name());
  device.set_generation(proto.generation());
  device.set_multiprocessors(proto.multiprocessors());
  device.set_boost_clock_hz(read.Get("boost_clock_mhz", proto.boost_clock_mhz(), 100, 1e4, "MHz") *
                            kMega);
  device.set_power_w(read.Get("power_w", proto.power_w(), 10, 5000, "W"));
  device.set_fp32_flop_per_s(read.Rate("fp32_tflops", proto.fp32_tflops()));
  device.set_vector_fp32_flop_per_s(device.fp32_flop_per_s());
  device.set_tf32_flop_per_s(read.RateOrNone("tf32_tflops", proto.tf32_tflops()));
  device.set_fp16_flop_per_s(read.RateOrNone("fp16_tflops", proto.fp16_tflops()));
  device.set_bf16_flop_per_s(read.RateOrNone("bf16_tflops", proto.bf16_tflops()));
  device.set_fp8_flop_per_s(read.RateOrNone("fp8_tflops", proto.fp8_tflops()));
  device.set_nvfp4_flop_per_s(read.RateOrNone("nvfp4_tflops", proto.nvfp4_tflops()));
  device.set_memory_bytes(
      std::llround(read.Get("memory_gb", proto.memory_gb(), 0.1, 3700, "GB") * kGibi));
  device.set_memory_bandwidth_bytes_per_s(
      read.Get("memory_gb_per_s", proto.memory_gb_per_s(), 0.1, 1e5, "GB/s") * kGiga);
  device.set_memory_kind(proto.memory_kind());
  device.set_l2_bytes(std::llround(read.Get("l2_mb", proto.l2_mb(), 0.1, 3800, "MB") * kMebi));
  device.set_clock_share(proto.clock_share());
  device.set_exponentials_per_clock(proto.exponentials_per_clock());
  return DeviceFromProto(device, place);
}

GpuDatasheetProto DatasheetOf(const Device& device) {
  const auto tera = [&](DType dtype) { return device.Peak(dtype).flop_per_s() / kTera; };
  GpuDatasheetProto proto;
  proto.set_id(device.id);
  proto.set_name(device.name);
  proto.set_generation(EnumToProto<DeviceProto::Generation>(device.generation));
  proto.set_multiprocessors(device.multiprocessors);
  proto.set_boost_clock_mhz(device.boost_clock_hz / kMega);
  proto.set_power_w(device.power_w);
  proto.set_fp32_tflops(device.vector_peak.flop_per_s() / kTera);
  proto.set_tf32_tflops(tera(DType::kTf32));
  proto.set_fp16_tflops(tera(DType::kFp16));
  proto.set_bf16_tflops(tera(DType::kBf16));
  proto.set_fp8_tflops(tera(DType::kFp8));
  proto.set_nvfp4_tflops(tera(DType::kNvfp4));
  proto.set_memory_gb(static_cast<double>(device.memory.count()) / kGibi);
  proto.set_memory_gb_per_s(device.memory_bandwidth.bytes_per_s() / kGiga);
  proto.set_memory_kind(EnumToProto<DeviceProto::MemoryKind>(device.memory_kind));
  proto.set_l2_mb(static_cast<double>(device.l2.count()) / kMebi);
  if (device.exponentials_per_clock != kUsualExponentials) {
    proto.set_exponentials_per_clock(device.exponentials_per_clock);
  }
  return proto;
}

}  // namespace stagecraft
