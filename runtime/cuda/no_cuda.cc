#include "runtime/cuda/no_cuda.h"

#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/cuda_tracer.h"
#include "runtime/cuda/nccl_timer.h"

namespace stagecraft {

std::unique_ptr<OpTimer> MakeCudaOpTimer(int, const std::string& place, const GpuPart&) {
  RefuseCuda(place);
}

std::unique_ptr<OpTimer> MakeNcclOpTimer(const std::vector<int>&, const std::string& place) {
  RefuseCuda(place);
}

std::unique_ptr<KernelTracer> MakeCudaKernelTracer(const std::string& place) { RefuseCuda(place); }

}  // namespace stagecraft
