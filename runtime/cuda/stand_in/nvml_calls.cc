// NVIDIA's management library: a GPU with the power and the throttling of the one that is played
// and no links to others. A thread of its own may read the sensors.
#include <string_view>

#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/runtime_call.h"

namespace {

constexpr int kDone = 0, kNotSupported = 3, kUnknownError = 999;
constexpr unsigned kMegahertz = 1755, kCelsius = 55, kPcieGeneration = 5, kPcieLanes = 16;
constexpr unsigned kMilliwattsPerWatt = 1000;
constexpr unsigned long long kSoftwareThermalSlowdown = 0x20;

#define ENTER_NVML() \
  if (!Gpu::Get().CallOfSensors(__func__)) return kUnknownError

int nvmlInit_v2() {
  ENTER_NVML();
  return kDone;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  ENTER_NVML();
  *device = &Gpu::Get();
  return kDone;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* megahertz) {
  ENTER_NVML();
  *megahertz = kMegahertz;
  return kDone;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  ENTER_NVML();
  *celsius = kCelsius;
  return kDone;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  ENTER_NVML();
  *milliwatts = static_cast<unsigned>(Gpu::Get().played.watts) * kMilliwattsPerWatt;
  return kDone;
}

int TellReasons(unsigned long long* mask) {
  *mask = Gpu::Get().played.is_throttled ? kSoftwareThermalSlowdown : 0;
  return kDone;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* mask) {
  ENTER_NVML();
  return TellReasons(mask);
}
// The name of the same function in drivers before 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* mask) {
  ENTER_NVML();
  return TellReasons(mask);
}

int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) {
  ENTER_NVML();
  *value = kPcieGeneration;
  return kDone;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) {
  ENTER_NVML();
  *value = kPcieLanes;
  return kDone;
}
int nvmlDeviceGetNvLinkState(void*, unsigned, unsigned*) {
  ENTER_NVML();
  return kNotSupported;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, unsigned*) {
  ENTER_NVML();
  return kNotSupported;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) {
  ENTER_NVML();
  return kNotSupported;
}
int nvmlDeviceGetFieldValues(void*, int, void*) {
  ENTER_NVML();
  return kNotSupported;
}

}  // namespace

namespace stagecraft::stand_in {

std::span<const LibraryFunction> NvmlFunctions() {
  static const LibraryFunction kFunctions[] = {
      LIBRARY_FUNCTION(nvmlInit_v2),
      LIBRARY_FUNCTION(nvmlDeviceGetHandleByPciBusId_v2),
      LIBRARY_FUNCTION(nvmlDeviceGetClockInfo),
      LIBRARY_FUNCTION(nvmlDeviceGetTemperature),
      LIBRARY_FUNCTION(nvmlDeviceGetPowerUsage),
      LIBRARY_FUNCTION(nvmlDeviceGetCurrentClocksEventReasons),
      LIBRARY_FUNCTION(nvmlDeviceGetCurrentClocksThrottleReasons),
      LIBRARY_FUNCTION(nvmlDeviceGetMaxPcieLinkGeneration),
      LIBRARY_FUNCTION(nvmlDeviceGetMaxPcieLinkWidth),
      LIBRARY_FUNCTION(nvmlDeviceGetNvLinkState),
      LIBRARY_FUNCTION(nvmlDeviceGetNvLinkRemoteDeviceType),
      LIBRARY_FUNCTION(nvmlDeviceGetNvLinkRemotePciInfo_v2),
      LIBRARY_FUNCTION(nvmlDeviceGetFieldValues),
  };
  return kFunctions;
}

}  // namespace stagecraft::stand_in
