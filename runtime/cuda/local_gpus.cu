#include <cuda_runtime.h>

#include <cstring>
#include <memory>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/gpu_parts.h"
#include "runtime/cuda/local_gpus.h"
#include "runtime/cuda/refuse.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/shared_library.h"
#include "runtime/cuda/use_device.h"

namespace stagecraft {
namespace {

// nvml.h is not part of every toolkit. These declarations are from its version 12 and have been the
// same since 2018.
struct NvmlPci {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned pci_device, pci_subsystem;
  char bus_id[32];
};
struct NvmlFieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency_us = 0;
  unsigned value_type = 0;
  int status = 0;
  union {
    double number;
    unsigned whole;
    unsigned long long long_whole;
  } value = {};
};
constexpr unsigned kCommonNvlinkSpeed = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
constexpr double kBytesPerMegabyte = 1e6;
constexpr unsigned kMostNvlinks = 18;
constexpr unsigned kGpuAtTheEnd = 0, kSwitchAtTheEnd = 2;

// NVML's functions. Each optional one is looked up by itself, so that one which a driver's library
// lacks leaves only one thing unknown.
struct Nvml {
  SharedLibrary library{"libnvidia-ml.so.1"};
  int (*init)() = library["nvmlInit_v2"];
  int (*find)(const char* bus, void** device) = library["nvmlDeviceGetHandleByPciBusId_v2"];
  int (*pcie_generation)(void* device,
                         unsigned*) = library.Find("nvmlDeviceGetMaxPcieLinkGeneration");
  int (*pcie_lanes)(void* device, unsigned*) = library.Find("nvmlDeviceGetMaxPcieLinkWidth");
  int (*link_state)(void* device, unsigned link,
                    unsigned* is_up) = library.Find("nvmlDeviceGetNvLinkState");
  int (*link_end)(void* device, unsigned link,
                  unsigned* kind) = library.Find("nvmlDeviceGetNvLinkRemoteDeviceType");
  int (*link_pci)(void* device, unsigned link,
                  NvmlPci*) = library.Find("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  int (*fields)(void* device, int count,
                NvmlFieldValue*) = library.Find("nvmlDeviceGetFieldValues");
};

// Returns whether the function exists and succeeds.
template <typename Function, typename... Arguments>
bool Ask(Function* function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == 0;
}

// Returns nullptr if the library is missing or does not start.
std::unique_ptr<Nvml> LoadNvml() {
  try {
    auto nvml = std::make_unique<Nvml>();
    return nvml->init() == 0 ? std::move(nvml) : nullptr;
  } catch (const Unsupported&) {
    return nullptr;
  }
}

int GpuAt(const NvmlPci& pci, const std::vector<cudaDeviceProp>& all) {
  for (size_t gpu = 0; gpu < all.size(); ++gpu) {
    if (static_cast<unsigned>(all[gpu].pciDomainID) == pci.domain &&
        static_cast<unsigned>(all[gpu].pciBusID) == pci.bus &&
        static_cast<unsigned>(all[gpu].pciDeviceID) == pci.device) {
      return static_cast<int>(gpu);
    }
  }
  return -1;
}

void AddLinks(const Nvml& nvml, void* device, const std::vector<cudaDeviceProp>& all,
              LocalGpu* gpu) {
  unsigned value = 0;
  if (Ask(nvml.pcie_generation, device, &value)) gpu->pcie_generation = static_cast<int>(value);
  if (Ask(nvml.pcie_lanes, device, &value)) gpu->pcie_lanes = static_cast<int>(value);
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    unsigned is_up = 0, end = 0;
    if (!Ask(nvml.link_state, device, link, &is_up) || is_up == 0) continue;
    if (!Ask(nvml.link_end, device, link, &end)) continue;
    NvmlPci pci = {};
    if (end == kSwitchAtTheEnd) {
      ++gpu->switch_links;
    } else if (end == kGpuAtTheEnd && Ask(nvml.link_pci, device, link, &pci)) {
      const int other = GpuAt(pci, all);  // -1 for a GPU that CUDA does not show
      if (other >= 0) ++gpu->nvlinks[other];
    }
  }
  NvmlFieldValue speed;
  speed.field = kCommonNvlinkSpeed;
  if (Ask(nvml.fields, device, 1, &speed) && speed.status == 0) {
    gpu->nvlink = Bandwidth(speed.value.whole * kBytesPerMegabyte);
  }
}

// The most and the least memory of a part, of which one half is copied to the other. Half of the
// most is many times the size of any cache.
constexpr size_t kMostBytes = size_t{1} << 30;
constexpr size_t kLeastBytes = size_t{4} << 20;
constexpr size_t kSmallBytes = 4096;
constexpr int kSmallCopies = 100;
// The device waits this long while the host queues copies, since a host may take longer to queue a
// small copy than a device needs for it.
constexpr Duration kHeadStart = 2_ms;
constexpr int kLargeCopies = 4;
constexpr double kSeconds = 0.1;  // about the time of a measurement
constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;

__global__ void CopyAll(const uint4* from, uint4* to, size_t count) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

// A stream with multiprocessors and memory of its own.
struct Streamer {
  Stream stream;
  int multiprocessors = 0;
  DeviceMemory memory;
  Event begin = MakeEvent(), end = MakeEvent();
  int repeats = 1;

  size_t bytes() const { return memory.bytes() / 2; }

  template <typename Work>
  void Queue(const Work& work) {
    CHECK_CUDA(cudaEventRecord(begin.get(), stream.get()));
    work();
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaEventRecord(end.get(), stream.get()));
  }
  void QueueKernels() {
    Queue([&] {
      for (int i = 0; i < repeats; ++i) {
        CopyAll<<<multiprocessors * kBlocksPerMultiprocessor, kThreads, 0, stream.get()>>>(
            reinterpret_cast<const uint4*>(memory.get()),
            reinterpret_cast<uint4*>(memory.get() + bytes()), bytes() / sizeof(uint4));
      }
    });
  }
  // Returns the seconds that a copy of `size` bytes takes, as the mean of `count` in a row.
  double CopySeconds(size_t size, int count) {
    LaunchSpin(kHeadStart, stream.get());
    Queue([&] {
      for (int i = 0; i < count; ++i) {
        CHECK_CUDA(cudaMemcpyAsync(memory.get() + bytes(), memory.get(), size,
                                   cudaMemcpyDeviceToDevice, stream.get()));
      }
    });
    return Seconds() / count;
  }
  // Returns the seconds that the work queued last took.
  double Seconds() const {
    CHECK_CUDA(cudaEventSynchronize(end.get()));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    return 1e-3 * ms;
  }
  // Returns how many bytes per second the kernels queued last read and wrote.
  double Rate() const { return 2.0 * static_cast<double>(bytes()) * repeats / Seconds(); }
  void FillTime(double rate) {
    repeats = std::max(1, static_cast<int>(kSeconds * rate / (2.0 * static_cast<double>(bytes()))));
  }
};

Streamer MakeStreamer(Stream stream, int multiprocessors, size_t bytes) {
  Streamer made{.stream = std::move(stream),
                .multiprocessors = multiprocessors,
                .memory = DeviceMemory(bytes)};
  CHECK_CUDA(cudaMemset(made.memory.get(), 1, made.memory.bytes()));
  CHECK_CUDA(cudaDeviceSynchronize());
  return made;
}

double RateAlone(Streamer& streamer) {
  streamer.QueueKernels();  // loads the kernel and raises the clocks
  streamer.Seconds();
  streamer.QueueKernels();
  streamer.FillTime(streamer.Rate());
  streamer.QueueKernels();
  streamer.Seconds();
  streamer.QueueKernels();
  return streamer.Rate();
}

// Returns the rate of all at once. In the second round each has as much work as lets all end
// together.
double RateTogether(std::vector<Streamer>& streamers) {
  double sum = 0;
  for (int round = 0; round < 2; ++round) {
    for (Streamer& streamer : streamers) streamer.QueueKernels();
    sum = 0;
    for (Streamer& streamer : streamers) sum += streamer.Rate();
    for (Streamer& streamer : streamers) streamer.FillTime(streamer.Rate());
  }
  return sum;
}

Link MeasureCopies(Streamer& streamer) {
  streamer.CopySeconds(kSmallBytes, kSmallCopies);
  const double small = streamer.CopySeconds(kSmallBytes, kSmallCopies);
  streamer.CopySeconds(streamer.bytes(), 1);
  const double large = streamer.CopySeconds(streamer.bytes(), kLargeCopies);
  return {LinkKind::kNvlink, Duration::Seconds(small),
          Bandwidth(static_cast<double>(streamer.bytes()) / std::max(large - small, small))};
}

// Returns how much memory each part of the current GPU gets, half of which it copies; the test of
// the whole GPU gets as much.
size_t BytesOfEach(size_t parts) {
  size_t free = 0, all = 0;
  CHECK_CUDA(cudaMemGetInfo(&free, &all));
  constexpr size_t kShareOfFree = 2;
  const size_t bytes = std::min(kMostBytes, free / kShareOfFree / parts);
  if (bytes < kLeastBytes) throw Unsupported("too little memory was left");
  return Aligned(bytes / 2) * 2;
}

PartsProbe ProbeDivided(int gpu, std::span<const int> parts, const std::string& place) {
  const GpuParts divided(gpu, parts, place);
  PartsProbe probe;
  probe.multiprocessors.assign(parts.begin(), parts.end());
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, gpu));
  const size_t bytes = BytesOfEach(parts.size());
  {
    Streamer whole = MakeStreamer(MakeStream(), properties.multiProcessorCount, bytes);
    probe.whole = Bandwidth(RateAlone(whole));
  }
  std::vector<Streamer> streamers;
  for (int part = 0; part < divided.count(); ++part) {
    streamers.push_back(MakeStreamer(divided.MakeStream(part), parts[part], bytes));
  }
  for (Streamer& streamer : streamers) {
    probe.alone.emplace_back(RateAlone(streamer));
    probe.copies.push_back(MeasureCopies(streamer));
  }
  probe.together = Bandwidth(RateTogether(streamers));
  return probe;
}

}  // namespace

int CountLocalGpus(const std::string& place) { return CountDevices(place); }

std::vector<LocalGpu> FindLocalGpus(const std::string& place) {
  std::vector<cudaDeviceProp> all(static_cast<size_t>(CountLocalGpus(place)));
  for (size_t gpu = 0; gpu < all.size(); ++gpu) {
    CHECK_CUDA(cudaGetDeviceProperties(&all[gpu], static_cast<int>(gpu)));
  }
  const std::unique_ptr<Nvml> nvml = LoadNvml();
  std::vector<LocalGpu> gpus;
  for (size_t index = 0; index < all.size(); ++index) {
    LocalGpu gpu;
    gpu.name = all[index].name;
    gpu.multiprocessors = all[index].multiProcessorCount;
    gpu.memory = Bytes(static_cast<int64_t>(all[index].totalGlobalMem));
    gpu.nvlinks.assign(all.size(), 0);
    char bus[32] = "";
    CHECK_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, static_cast<int>(index)));
    void* device = nullptr;
    if (nvml != nullptr && nvml->find(bus, &device) == 0) AddLinks(*nvml, device, all, &gpu);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

GpuGroups FindGpuGroups(int gpu, const std::string& place) { return GroupsOfGpu(gpu, place); }

PartsProbe ProbeParts(int gpu, std::span<const int> parts, const std::string& place) {
  try {
    return ProbeDivided(gpu, parts, place);
  } catch (const Unsupported& reason) {
    Refuse(place + ": got GPU " + std::to_string(gpu) +
               ", want one with enough free memory to measure its parts",
           reason);
  }
}

}  // namespace stagecraft
