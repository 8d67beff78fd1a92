#include "runtime/cuda/use_device.h"

#include <cstdlib>

#include "costmodel/check.h"
#include "runtime/cuda/cuda_call.h"

namespace stagecraft {

int CountDevices(const std::string& place) {
  // Gives streams a queue each as far as there are queues. CUDA reads this when it is initialised,
  // by the first call.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice) {
    throw InputError(
        place + ": got a CUDA device, want a machine that has one: " + cudaGetErrorString(status));
  }
  CheckCuda(status, "cudaGetDeviceCount");
  return count;
}

void UseDevice(int ordinal, const std::string& place) {
  const int count = CountDevices(place);
  if (ordinal < 0 || ordinal >= count) {
    throw InputError(place + ": got device " + std::to_string(ordinal) + ", want 0 to " +
                     std::to_string(count - 1));
  }
  CHECK_CUDA(cudaSetDevice(ordinal));
}

}  // namespace stagecraft
