#include "runtime/cuda/local_gpus.h"
#include "runtime/cuda/no_cuda.h"

namespace stagecraft {

std::vector<LocalGpu> FindLocalGpus(const std::string& place) { RefuseCuda(place); }

int CountLocalGpus(const std::string& place) { RefuseCuda(place); }

GpuGroups FindGpuGroups(int, const std::string& place) { RefuseCuda(place); }

PartsProbe ProbeParts(int, std::span<const int>, const std::string& place) { RefuseCuda(place); }

}  // namespace stagecraft
