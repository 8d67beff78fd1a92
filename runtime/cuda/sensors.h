// Sensors: clock, temperature, power and throttling of a GPU, from NVIDIA's management library.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/shared_library.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

class Sensors {
 public:
  // Opens the sensors of the GPU with the PCI address `bus_id`, as CUDA writes it: "0000:1b:00.0".
  // Without the library, or if it does not know the device, nothing is read, which DeviceState can
  // express. If the library lacks a function, only what that function would tell is missing.
  explicit Sensors(const std::string& bus_id);

  DeviceState Read() const;

 private:
  std::unique_ptr<SharedLibrary> library_;
  void* device_ = nullptr;  // nullptr: there are no readings
  int (*clock_)(void* device, int kind, unsigned* megahertz) = nullptr;
  int (*temperature_)(void* device, int kind, unsigned* celsius) = nullptr;
  int (*power_)(void* device, unsigned* milliwatts) = nullptr;
  int (*reasons_)(void* device, unsigned long long* mask) = nullptr;
};

}  // namespace stagecraft
