#include "tools/profile/profile_devices.h"

#include <fmt/core.h>

#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/cuda_tracer.h"
#include "runtime/cuda/local_gpus.h"
#include "runtime/cuda/nccl_timer.h"
#include "runtime/host_timer.h"
#include "sim/cluster/cluster_proto.h"
#include "tools/import/imported_cluster.h"
#include "tools/import/local_gpu.h"
#include "tools/verb/number_list.h"

namespace stagecraft {
namespace {

// A kind of device: how one of them is opened and how its kernels are watched. `place` begins the
// sentence of every error.
struct DeviceKind {
  std::string_view name;
  std::unique_ptr<OpTimer> (*open)(int ordinal, const std::string& place, const GpuPart& part);
  std::unique_ptr<KernelTracer> (*watch)(const std::string& place);
};

std::unique_ptr<KernelTracer> RefuseToWatchHost(const std::string& place) {
  throw InputError(place + ": got host with --kernels, want cuda:N: a CPU launches none");
}

std::unique_ptr<OpTimer> OpenHost(int ordinal, const std::string& place, const GpuPart& part) {
  if (part.multiprocessors.empty()) return MakeHostOpTimer(ordinal, place);
  throw InputError(place + ": got host with --cluster, want cuda:N: parts are of a GPU");
}

constexpr DeviceKind kKinds[] = {{"cuda", MakeCudaOpTimer, MakeCudaKernelTracer},
                                 {"host", OpenHost, RefuseToWatchHost}};
constexpr const char* kPlace = "--device";
// NCCL connects only devices of this kind.
constexpr std::string_view kGroupKind = "cuda:";
constexpr int kMostOrdinal = 1023;

[[noreturn]] void Refuse(const std::string& device) {
  throw InputError("--device: got \"" + device +
                   "\", want host, cuda:N, the N-th GPU from 0, or several as cuda:0,1");
}

struct NamedDevice {
  const DeviceKind* kind;
  int ordinal;
};

NamedDevice Parse(const std::string& device) {
  const size_t colon = device.find(':');
  int ordinal = 0;
  if (colon != std::string::npos) {
    ordinal = ParseNumber<int>(std::string_view(device).substr(colon + 1)).value_or(-1);
    if (ordinal < 0) Refuse(device);
  }
  for (const DeviceKind& known : kKinds) {
    if (known.name == std::string_view(device).substr(0, colon)) return {&known, ordinal};
  }
  Refuse(device);
}

}  // namespace

std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device, const GpuPart& part) {
  const NamedDevice named = Parse(device);
  return named.kind->open(named.ordinal, kPlace, part);
}

NamedPart PartOfCluster(const Cluster& cluster, int number, const std::string& place) {
  const auto memories = cluster.shared_memories();
  if (memories.size() != 1 || std::ssize(memories[0].devices) != cluster.device_count()) {
    throw InputError(fmt::format(
        "{}: got {}, want a cluster of parts of one GPU, as import local-gpu --parts makes", place,
        cluster.name()));
  }
  if (number < 0 || number >= cluster.device_count()) {
    throw InputError(
        fmt::format("--part: got {}, want 0 to {}", number, cluster.device_count() - 1));
  }
  NamedPart named{cluster.device(number), {{}, number}};
  for (int device = 0; device < cluster.device_count(); ++device) {
    named.part.multiprocessors.push_back(cluster.device(device).multiprocessors);
  }
  return named;
}

bool NamesSeveral(const std::string& device) { return device.find(',') != std::string::npos; }

DeviceGroup OpenDeviceGroup(const std::string& device, const std::string& gpu) {
  const std::string kind = device.substr(0, device.find(':') + 1);
  if (kind != kGroupKind) Refuse(device);
  const std::vector<int> numbers =
      ParseNumbers(kPlace, device.substr(kind.size()), 0, kMostOrdinal);
  if (std::set<int>(numbers.begin(), numbers.end()).size() < numbers.size()) {
    throw InputError("--device: got \"" + device + "\", want each device once");
  }
  ImportOptions options;
  options.gpu = gpu;
  const std::vector<LocalGpu> gpus = SelectGpus(FindLocalGpus(kPlace), numbers, kPlace);
  Cluster cluster = ClusterFromProto(ClusterOfGpus(gpus, options, kPlace).cluster, device);
  return {MakeNcclOpTimer(numbers, kPlace), std::move(cluster)};
}

std::unique_ptr<KernelTracer> MakeKernelTracer(const std::string& device) {
  return Parse(device).kind->watch(kPlace);
}

}  // namespace stagecraft
