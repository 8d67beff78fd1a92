// The devices that `profile` can measure, by the first word of their names.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/kernel_trace.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

// "cuda:1" is the second CUDA device, "cuda" the first. Throws InputError for another
// name, for a device that is not there and for a kind that this build cannot measure.
std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device);

// What watches kernels there; after the timer, which finds the device. Likewise.
std::unique_ptr<KernelTracer> MakeKernelTracer(const std::string& device);

}  // namespace stagecraft
