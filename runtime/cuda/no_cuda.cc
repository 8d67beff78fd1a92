#include "costmodel/check.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/cuda_tracer.h"
#include "runtime/cuda/nccl_timer.h"

namespace stagecraft {
namespace {

[[noreturn]] void Refuse(const std::string& place) {
  throw InputError(place +
                   ": got a CUDA device, want a build that has CUDA: this one was made where no "
                   "toolkit was found (CUDA_HOME says where one is)");
}

}  // namespace

std::unique_ptr<OpTimer> MakeCudaOpTimer(int, const std::string& place) { Refuse(place); }

std::unique_ptr<OpTimer> MakeNcclOpTimer(const std::vector<int>&, const std::string& place) {
  Refuse(place);
}

std::unique_ptr<KernelTracer> MakeCudaKernelTracer(const std::string& place) { Refuse(place); }

}  // namespace stagecraft
