#include "runtime/cuda/sensors.h"

#include "runtime/cuda/device_op.h"

namespace stagecraft {
namespace {

// nvml.h is not part of every toolkit. These values have been the same since 2015.
constexpr int kMultiprocessorClock = 1;
constexpr int kTemperatureOfGpu = 0;
constexpr unsigned long long kHardwareSlowdown = 0x8;
constexpr unsigned long long kSoftwareThermal = 0x20;
constexpr unsigned long long kHardwareThermal = 0x40;
constexpr unsigned long long kPowerBrake = 0x80;
constexpr double kHertzPerMegahertz = 1e6, kWattsPerMilliwatt = 1e-3;

}  // namespace

Sensors::Sensors(const std::string& bus_id) {
  try {
    library_ = std::make_unique<SharedLibrary>("libnvidia-ml.so.1");
    int (*const begin)() = (*library_)["nvmlInit_v2"];
    int (*const find)(const char*, void**) = (*library_)["nvmlDeviceGetHandleByPciBusId_v2"];
    clock_ = library_->Find("nvmlDeviceGetClockInfo");
    temperature_ = library_->Find("nvmlDeviceGetTemperature");
    power_ = library_->Find("nvmlDeviceGetPowerUsage");
    reasons_ = library_->Find("nvmlDeviceGetCurrentClocksEventReasons");
    // Drivers before 535 have only this name, which newer ones may drop.
    if (reasons_ == nullptr) reasons_ = library_->Find("nvmlDeviceGetCurrentClocksThrottleReasons");
    if (begin() != 0 || find(bus_id.c_str(), &device_) != 0) device_ = nullptr;
  } catch (const Unsupported&) {
    device_ = nullptr;
  }
}

DeviceState Sensors::Read() const {
  DeviceState state;
  if (device_ == nullptr) return state;
  unsigned value = 0;
  if (clock_ != nullptr && clock_(device_, kMultiprocessorClock, &value) == 0) {
    state.clock_hz = value * kHertzPerMegahertz;
  }
  if (temperature_ != nullptr && temperature_(device_, kTemperatureOfGpu, &value) == 0) {
    state.celsius = value;
  }
  if (power_ != nullptr && power_(device_, &value) == 0) {
    state.watts = value * kWattsPerMilliwatt;
  }
  unsigned long long mask = 0;
  if (reasons_ != nullptr && reasons_(device_, &mask) == 0) {
    state.is_throttled =
        (mask & (kHardwareSlowdown | kSoftwareThermal | kHardwareThermal | kPowerBrake)) != 0;
  }
  return state;
}

}  // namespace stagecraft
