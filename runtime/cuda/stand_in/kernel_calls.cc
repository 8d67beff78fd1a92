// The functions that nvcc calls for <<<>>>: registration and launches of kernels.
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "runtime/cuda/stand_in/kernels.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::KernelModel;
using stagecraft::stand_in::Launch;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local Configuration the_configuration;

// The names of kernels, by the address of the host function that launches them. Filled before
// main() begins.
std::map<const void*, std::string>& NamesOfKernels() {
  static auto& names = *new std::map<const void*, std::string>;
  return names;
}

// Returns the name of a kernel without namespaces and arguments: "RunRows<Softmax>".
std::string ShortName(const char* mangled) {
  int status = 0;
  char* const full = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? full : mangled;
  std::free(full);
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  for (size_t at; (at = name.find(kAnonymous)) != std::string::npos;) {
    name.erase(at, kAnonymous.size());
  }
  name.erase(std::min(name.find('('), name.size()));
  const auto last = [](const std::string& path) { return path.substr(path.rfind(':') + 1); };
  const size_t angle = name.find('<');
  if (angle == std::string::npos) return last(name);
  const std::string argument = name.substr(angle + 1, name.rfind('>') - angle - 1);
  std::string kernel = name.substr(0, angle);
  kernel.erase(0, kernel.rfind(' ') + 1);
  return last(kernel) + "<" + last(argument) + ">";
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* none = nullptr;
  return &none;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  NamesOfKernels()[host_function] = ShortName(name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  the_configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = the_configuration.grid;
  *block = the_configuration.block;
  *shared = the_configuration.shared;
  *static_cast<cudaStream_t*>(stream) = the_configuration.stream;
  return cudaSuccess;
}

// Called once for each kernel, at its first launch.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  const std::string& name = NamesOfKernels().at(host_function);
  const KernelModel* const model = stagecraft::stand_in::FindKernel(name);
  if (model == nullptr) BreakContract("no model of the kernel " + name);
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<KernelModel*>(model));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  constexpr unsigned kMostThreads = 1024, kMostBlocks = 0x7fffffff;
  constexpr size_t kMostShared = 48 << 10;
  if (grid.x == 0 || grid.x > kMostBlocks || grid.y != 1 || grid.z != 1 || block.x == 0 ||
      block.x > kMostThreads || block.y != 1 || block.z != 1 || shared > kMostShared) {
    return Fail(cudaErrorInvalidConfiguration);
  }
  Gpu& gpu = Gpu::Get();
  stream = StreamOf(stream);
  const Launch launch{.blocks = grid.x,
                      .threads = block.x,
                      .multiprocessors = gpu.MultiprocessorsOf(stream),
                      .of_gpu = gpu.played.multiprocessors()};
  const auto* const model = reinterpret_cast<const KernelModel*>(kernel);
  gpu.Give(stream, model->bind(launch, arguments));
  return cudaSuccess;
}

}  // extern "C"
