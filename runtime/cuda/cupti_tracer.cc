#include <cupti.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cuda_tracer.h"
#include "runtime/cuda/shared_library.h"

namespace stagecraft {
namespace {

using KernelRecord = CUpti_ActivityKernel10;

constexpr size_t kBuffer = size_t{1} << 20;
constexpr size_t kBufferAlignment = 8;

struct Cupti {
  SharedLibrary library{"libcupti.so." + std::to_string(CUDART_VERSION / 1000)};
  decltype(&::cuptiActivityRegisterCallbacks) RegisterCallbacks =
      library["cuptiActivityRegisterCallbacks"];
  decltype(&::cuptiActivityEnable) Enable = library["cuptiActivityEnable"];
  decltype(&::cuptiActivityDisable) Disable = library["cuptiActivityDisable"];
  decltype(&::cuptiActivityFlushAll) FlushAll = library["cuptiActivityFlushAll"];
  decltype(&::cuptiActivityGetNextRecord) NextRecord = library["cuptiActivityGetNextRecord"];
};

// CUPTI's callbacks have no user argument, and are called until the process has ended. So there is
// one object for all, which is never destroyed.
struct Watched {
  const Cupti cupti;
  std::mutex mutex;
  std::vector<KernelRun> runs;  // guarded by `mutex`
};
Watched& TheWatched() {
  static Watched& watched = *new Watched;
  return watched;
}

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBuffer));
  *size = kBuffer;
  *most_records = 0;
}

void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Watched& watched = TheWatched();
  const std::lock_guard lock(watched.mutex);
  CUpti_Activity* record = nullptr;
  while (watched.cupti.NextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* const kernel = reinterpret_cast<const KernelRecord*>(record);
    watched.runs.push_back({kernel->name == nullptr ? "" : kernel->name,
                            Duration::Nanoseconds(static_cast<int64_t>(kernel->start)),
                            Duration::Nanoseconds(static_cast<int64_t>(kernel->end))});
  }
  std::free(buffer);
}

void Check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": CUPTI status " + std::to_string(result));
}

class CuptiTracer final : public KernelTracer {
 public:
  CuptiTracer() {
    Check(cupti_.RegisterCallbacks(GiveBuffer, TakeBuffer), "cuptiActivityRegisterCallbacks");
  }
  void Start() override {
    Check(cupti_.Enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  }
  std::vector<KernelRun> Stop() override {
    CHECK_CUDA(cudaDeviceSynchronize());
    Check(cupti_.FlushAll(0), "cuptiActivityFlushAll");
    Check(cupti_.Disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityDisable");
    Watched& watched = TheWatched();
    const std::lock_guard lock(watched.mutex);
    std::vector<KernelRun> own;  // without the kernels of the timer itself
    for (KernelRun& run : watched.runs) {
      if (run.name.find("ReadAll") == std::string::npos) own.push_back(std::move(run));
    }
    watched.runs.clear();
    return own;
  }

 private:
  const Cupti& cupti_ = TheWatched().cupti;
};

}  // namespace

std::unique_ptr<KernelTracer> MakeCudaKernelTracer(const std::string& place) {
  try {
    return std::make_unique<CuptiTracer>();
  } catch (const Unsupported& reason) {
    throw InputError(place + ": got no library that records kernels, want CUPTI: " + reason.what());
  }
}

}  // namespace stagecraft
