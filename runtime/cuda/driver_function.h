// Finds functions of the driver, with which the program is not linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace stagecraft {

// Returns the function as this toolkit's header declares it; nullptr if the driver has none of that
// name.
template <typename Function>
Function* FindDriverFunction(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, CUDART_VERSION, cudaEnableDefault, &found);
  if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) {
    return reinterpret_cast<Function*>(address);
  }
  cudaGetLastError();
  return nullptr;
}

}  // namespace stagecraft
