// NVIDIA's management library: a board that is cool, and joined to nothing.
#include <string_view>

#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/runtime_call.h"

namespace {

constexpr int kDone = 0, kNotSupported = 3;
constexpr unsigned kMegahertz = 1755, kCelsius = 55, kMilliwatts = 412'000, kPcieGeneration = 5, kPcieLanes = 16;

int nvmlInit_v2() { return kDone; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  *device = &Gpu::Get();
  return kDone;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* megahertz) {
  *megahertz = kMegahertz;
  return kDone;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = kCelsius;
  return kDone;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = kMilliwatts;
  return kDone;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* mask) {
  *mask = 0;
  return kDone;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) {
  *value = kPcieGeneration;
  return kDone;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) {
  *value = kPcieLanes;
  return kDone;
}
int nvmlDeviceGetNvLinkState(void*, unsigned, unsigned*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, unsigned*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return kNotSupported; }
int nvmlDeviceGetFieldValues(void*, int, void*) { return kNotSupported; }

}  // namespace

namespace stagecraft::stand_in {

std::span<const LibraryFunction> NvmlFunctions() {
  static const LibraryFunction kFunctions[] = {
      LIBRARY_FUNCTION(nvmlInit_v2),
      LIBRARY_FUNCTION(nvmlDeviceGetHandleByPciBusId_v2),
      LIBRARY_FUNCTION(nvmlDeviceGetClockInfo),
      LIBRARY_FUNCTION(nvmlDeviceGetTemperature),
      LIBRARY_FUNCTION(nvmlDeviceGetPowerUsage),
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
