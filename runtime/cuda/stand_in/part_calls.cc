// CUDA's driver: green contexts, whose functions the program gets through the runtime.
#include <cstring>
#include <string_view>

#include "runtime/cuda/stand_in/runtime_call.h"

// The multiprocessors that a green context is to have.
struct CUdevResourceDesc_st {
  std::vector<int> multiprocessors;
};

namespace {

// A group of a split: its first multiprocessor and their number.
struct Group {
  int first, count;
};

CUdevResource ResourceOf(Group group) {
  CUdevResource resource = {};
  if (group.count == 0) return resource;
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = static_cast<unsigned>(group.count);
  resource.sm.minSmPartitionSize = static_cast<unsigned>(Gpu::Get().played.group_size);
  std::memcpy(resource._internal_padding, &group, sizeof group);
  return resource;
}

Group GroupOf(const CUdevResource& resource) {
  if (resource.type != CU_DEV_RESOURCE_TYPE_SM) BreakContract("a resource without multiprocessors");
  Group group = {};
  std::memcpy(&group, resource._internal_padding, sizeof group);
  return group;
}

}  // namespace

#define RESULT_OF_DRIVER() (Gpu::Get().Call(__func__) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN)
#define ENTER_DRIVER() \
  if (RESULT_OF_DRIVER() != CUDA_SUCCESS) return CUDA_ERROR_UNKNOWN

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice, CUdevResource* resource, CUdevResourceType) {
  ENTER_DRIVER();
  *resource = ResourceOf({0, Gpu::Get().played.multiprocessors()});
  return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* groups, unsigned* count, const CUdevResource*,
                                     CUdevResource* rest, unsigned, unsigned) {
  ENTER_DRIVER();
  const stagecraft::StandInGpu& played = Gpu::Get().played;
  if (groups == nullptr) {
    *count = static_cast<unsigned>(played.groups);
    return CUDA_SUCCESS;
  }
  *count = std::min(*count, static_cast<unsigned>(played.groups));
  for (unsigned i = 0; i < *count; ++i) {
    groups[i] = ResourceOf({static_cast<int>(i) * played.group_size, played.group_size});
  }
  const int taken = static_cast<int>(*count) * played.group_size;
  if (rest != nullptr) *rest = ResourceOf({taken, played.multiprocessors() - taken});
  return CUDA_SUCCESS;
}

// Descriptions are never freed, since CUDA has no function for that.
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources,
                                   unsigned count) {
  ENTER_DRIVER();
  static auto& made = *new std::vector<std::unique_ptr<CUdevResourceDesc_st>>;
  made.push_back(std::make_unique<CUdevResourceDesc_st>());
  std::vector<int>& all = made.back()->multiprocessors;
  for (unsigned i = 0; i < count; ++i) {
    const Group group = GroupOf(resources[i]);
    for (int one = group.first; one < group.first + group.count; ++one) {
      if (std::find(all.begin(), all.end(), one) != all.end()) {
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
      }
      all.push_back(one);
    }
  }
  *description = made.back().get();
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* part, CUdevResourceDesc description, CUdevice device,
                          unsigned flags) {
  ENTER_DRIVER();
  if (flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  *part =
      Gpu::Get().parts.Make({.device = device, .multiprocessors = description->multiprocessors});
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx part) {
  const CUresult result = RESULT_OF_DRIVER();
  Gpu::Get().parts.Destroy(part, "a green context");
  return result;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx part, unsigned flags, int) {
  ENTER_DRIVER();
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  const int device = Gpu::Get().parts.Get(part, "a green context").device;
  *stream = Gpu::Get().streams.Make({.device = device, .part = part});
  return CUDA_SUCCESS;
}

// A context is known by its part; nullptr is the primary one.
CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx part) {
  ENTER_DRIVER();
  Gpu::Get().parts.Get(part, "a green context");
  *context = reinterpret_cast<CUcontext>(part);
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  ENTER_DRIVER();
  *context = reinterpret_cast<CUcontext>(Gpu::Get().streams.Get(stream, "a stream").part);
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  ENTER_DRIVER();
  Gpu::Get().contexts.push_back(reinterpret_cast<CUgreenCtx>(context));
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  const CUresult result = RESULT_OF_DRIVER();
  if (Gpu::Get().contexts.empty()) BreakContract("a context is popped that was not pushed");
  *context = reinterpret_cast<CUcontext>(Gpu::Get().contexts.back());
  Gpu::Get().contexts.pop_back();
  return result;
}

}  // extern "C"

namespace {

#define FUNCTION(name) \
  { #name, reinterpret_cast < void*>(name) }
const struct {
  std::string_view name;
  void* address;
} kFunctions[] = {FUNCTION(cuDeviceGetDevResource),    FUNCTION(cuDevSmResourceSplitByCount),
                  FUNCTION(cuDevResourceGenerateDesc), FUNCTION(cuGreenCtxCreate),
                  FUNCTION(cuGreenCtxDestroy),         FUNCTION(cuGreenCtxStreamCreate),
                  FUNCTION(cuCtxFromGreenCtx),         FUNCTION(cuStreamGetCtx),
                  FUNCTION(cuCtxPushCurrent),          FUNCTION(cuCtxPopCurrent)};

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** address, unsigned,
                                                        unsigned long long,
                                                        cudaDriverEntryPointQueryResult* found) {
  ENTER(cudaErrorUnknown);
  *address = nullptr;
  *found = cudaDriverEntryPointSymbolNotFound;
  if (!Gpu::Get().played.has_green_contexts) return cudaSuccess;
  for (const auto& function : kFunctions) {
    if (function.name != name) continue;
    *address = function.address;
    *found = cudaDriverEntryPointSuccess;
  }
  return cudaSuccess;
}
