#include "runtime/cuda/gpu_parts.h"

#include <stdexcept>

#include "costmodel/check.h"
#include "runtime/cuda/driver_function.h"
#include "runtime/cuda/use_device.h"

namespace stagecraft {
namespace {

template <typename Function>
Function* Driver(const char* name, const std::string& place) {
  if (auto* const function = FindDriverFunction<Function>(name)) return function;
  throw InputError(place +
                   ": got parts of a GPU, want a driver of this CUDA or later: this "
                   "one has no " +
                   name);
}

}  // namespace

struct GreenContexts {
  explicit GreenContexts(const std::string& place)
      : get_resource(Driver<decltype(::cuDeviceGetDevResource)>("cuDeviceGetDevResource", place)),
        split(
            Driver<decltype(::cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount", place)),
        describe(Driver<decltype(::cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc", place)),
        create(Driver<decltype(::cuGreenCtxCreate)>("cuGreenCtxCreate", place)),
        destroy(Driver<decltype(::cuGreenCtxDestroy)>("cuGreenCtxDestroy", place)),
        make_stream(Driver<decltype(::cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate", place)) {}

  decltype(&::cuDeviceGetDevResource) get_resource;
  decltype(&::cuDevSmResourceSplitByCount) split;
  decltype(&::cuDevResourceGenerateDesc) describe;
  decltype(&::cuGreenCtxCreate) create;
  decltype(&::cuGreenCtxDestroy) destroy;
  decltype(&::cuGreenCtxStreamCreate) make_stream;
};

namespace {

void Check(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": status " + std::to_string(status) +
                           " of the driver");
}
#define CHECK_DRIVER(call) Check(call, #call)

// Resources of one split may be joined again in any number; those of different splits may not.
struct Split {
  std::vector<CUdevResource> groups;
  CUdevResource rest = {};
};

Split SplitGpu(const GreenContexts& driver, int gpu) {
  CHECK_CUDA(cudaFree(nullptr));  // makes the primary context
  CUdevResource all = {};
  CHECK_DRIVER(driver.get_resource(gpu, &all, CU_DEV_RESOURCE_TYPE_SM));
  unsigned count = 0;
  CHECK_DRIVER(driver.split(nullptr, &count, &all, nullptr, 0, all.sm.minSmPartitionSize));
  Split split;
  split.groups.resize(count);
  CHECK_DRIVER(
      driver.split(split.groups.data(), &count, &all, &split.rest, 0, all.sm.minSmPartitionSize));
  split.groups.resize(count);
  return split;
}

GpuGroups GroupsOf(const Split& split) {
  const int rest =
      split.rest.type == CU_DEV_RESOURCE_TYPE_SM ? static_cast<int>(split.rest.sm.smCount) : 0;
  if (split.groups.empty()) return {.group_size = 1, .groups = 0, .rest = rest};
  return {.group_size = static_cast<int>(split.groups[0].sm.smCount),
          .groups = static_cast<int>(split.groups.size()),
          .rest = rest};
}

}  // namespace

GpuGroups GroupsOfGpu(int gpu, const std::string& place) {
  UseDevice(gpu, place);
  return GroupsOf(SplitGpu(GreenContexts(place), gpu));
}

GpuParts::GpuParts(int gpu, std::span<const int> multiprocessors, const std::string& place) {
  UseDevice(gpu, place);
  driver_ = std::make_unique<GreenContexts>(place);
  const Split split = SplitGpu(*driver_, gpu);
  for (const PartGroups& part : ShareGroups(GroupsOf(split), multiprocessors, place)) {
    std::vector<CUdevResource> own(split.groups.begin() + part.first,
                                   split.groups.begin() + part.first + part.count);
    if (part.has_rest) own.push_back(split.rest);
    CUdevResourceDesc description = nullptr;
    CHECK_DRIVER(driver_->describe(&description, own.data(), static_cast<unsigned>(own.size())));
    CUgreenCtx context = nullptr;
    CHECK_DRIVER(driver_->create(&context, description, gpu, CU_GREEN_CTX_DEFAULT_STREAM));
    contexts_.emplace_back(context, Destroy{driver_.get()});
  }
}

GpuParts::~GpuParts() = default;

void GpuParts::Destroy::operator()(CUgreenCtx context) const { driver->destroy(context); }

Stream GpuParts::MakeStream(int part) const {
  CUstream stream = nullptr;
  CHECK_DRIVER(driver_->make_stream(&stream, contexts_[part].get(), CU_STREAM_NON_BLOCKING, 0));
  return Stream(stream);
}

}  // namespace stagecraft
