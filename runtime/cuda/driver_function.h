// Functions of the driver, which the program does not link.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace stagecraft {

// The function as declared in this toolkit's header; nullptr if the driver has none of that name.
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
