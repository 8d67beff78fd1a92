#include "tools/import/local_gpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/usual_links.h"
#include "tools/import/gpu_name.h"
#include "tools/import/imported_gpu.h"
#include "tools/import/observed_node.h"
#include "tools/verb/number_list.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "local-gpu";
constexpr int kMostParts = 1024;
// The catalogue has the rate of NVLinks for data, and their raw rate is a few percent above it, so
// only links below this share of the catalogue's rate are slower than usual.
constexpr double kLeastOfNvlink = 0.9;
// The share of the catalogue's memory that a GPU has at least; drivers reserve a few percent of it.
constexpr double kLeastOfMemory = 0.9;

// Reads the shares of parts: "3:5".
std::vector<int> ParseShares(const std::string& text) {
  std::string commas = text;
  std::replace(commas.begin(), commas.end(), ':', ',');
  if (text.find(',') == std::string::npos) {
    try {
      return ParseNumbers("--parts", commas, 1, kMostParts);
    } catch (const InputError&) {
    }
  }
  throw InputError(fmt::format(
      "--parts: got '{}', want shares of 1 to {} with colons between, as 3:5", text, kMostParts));
}

double Over(Bandwidth part, Bandwidth whole) { return part.bytes_per_s() / whole.bytes_per_s(); }

const DeviceEntry& EntryOf(const LocalGpu& gpu, const ImportOptions& options,
                           const std::string& place) {
  if (options.gpu.empty()) return FindImportedGpu(gpu.name, place);
  const DeviceEntry& entry = DeviceCatalogue::Embedded().Get(options.gpu, "--gpu");
  if (IsAnotherGpu(gpu.name, entry.device.id)) {
    throw InputError(fmt::format("--gpu: got {}, want what \"{}\" is", options.gpu, gpu.name));
  }
  return entry;
}

// Adds a note if the GPU has another number of multiprocessors, or less memory, than the catalogue
// states.
void NoteDifferences(const LocalGpu& gpu, const DeviceEntry& entry,
                     std::vector<std::string>* notes) {
  const Device& device = entry.device;
  const bool is_smaller = static_cast<double>(gpu.memory.count()) <
                          kLeastOfMemory * static_cast<double>(device.memory.count());
  if (gpu.multiprocessors == device.multiprocessors && !is_smaller) return;
  notes->push_back(fmt::format(
      "the GPU has {} SMs and {:.0f} GiB; {} of the catalogue, whose numbers are used, has {} and "
      "{:.0f}",
      gpu.multiprocessors, gpu.memory.gib(), device.id, device.multiprocessors,
      device.memory.gib()));
}

Link PortOf(const LocalGpu& gpu, const DeviceEntry& entry, std::vector<std::string>* notes) {
  constexpr int kUsualLanes = 16, kNewest = 6;
  Link port = {LinkKind::kPcie, kPcieLatency, PcieBandwidth(PcieGeneration(entry))};
  if (gpu.pcie_generation > 0 && gpu.pcie_lanes > 0) {
    port.bandwidth = (static_cast<double>(gpu.pcie_lanes) / kUsualLanes) *
                     PcieBandwidth(std::min(gpu.pcie_generation, kNewest));
  } else {
    notes->push_back(
        fmt::format("NVML does not say how GPUs are connected: PCIe is assumed to have {} lanes of "
                    "generation {}, NVLinks are left out",
                    kUsualLanes, PcieGeneration(entry)));
  }
  return port;
}

// If NVLinks run slower than the catalogue states, uses their own rate, and notes that.
void TakeSlowLinks(const LocalGpu& gpu, const DeviceEntry& entry, NodeTypeProto* type,
                   std::vector<std::string>* notes) {
  const Bandwidth usual = NvlinkBandwidth(entry), own = gpu.nvlink;
  if (type->wiring() == NodeTypeProto::PCIE || own == Bandwidth()) return;
  if (own >= kLeastOfNvlink * usual) return;
  LinkProto* intra = type->mutable_intra();
  intra->set_bandwidth_bytes_per_s(Over(own, usual) * intra->bandwidth_bytes_per_s());
  notes->push_back(fmt::format("NVLinks run at {:g} GB/s, not at the {:g} of {}",
                               own.bytes_per_s() * 1e-9, usual.bytes_per_s() * 1e-9,
                               entry.device.id));
}

DeviceProto DeviceOfPart(const DeviceEntry& entry, const LocalGpu& gpu, const PartsProbe& probe,
                         size_t part) {
  const int own = probe.multiprocessors[part];
  const int all = std::accumulate(probe.multiprocessors.begin(), probe.multiprocessors.end(), 0);
  const double share = static_cast<double>(own) / gpu.multiprocessors;
  Device device = entry.device;
  device.id = fmt::format("{}-part-of-{}", device.id, own);
  device.name = fmt::format("{}, {} multiprocessors", device.name, own);
  device.multiprocessors = own;
  for (FlopRate& peak : device.peak) peak = share * peak;
  device.vector_peak = share * device.vector_peak;
  device.l2 = Bytes(static_cast<int64_t>(share * static_cast<double>(device.l2.count())));
  device.memory = Bytes(device.memory.count() / all * own);
  device.memory_bandwidth = Over(probe.alone[part], probe.whole) * device.memory_bandwidth;
  return ToProto(device);
}

// Adds a node of `count` equal parts.
void AddNode(const DeviceProto& device, const Link& copies, int count, ClusterProto* cluster) {
  NodeGroupProto* group = cluster->add_node_groups();
  group->set_count(1);
  NodeTypeProto* type = group->mutable_inline_node_type();
  type->set_id(device.id());
  *type->mutable_inline_device() = device;
  type->set_devices(count);
  type->set_wiring(NodeTypeProto::ALL_PAIRS);
  *type->mutable_intra() = ToProto(copies);
}

void AddLinks(const std::vector<std::string>& names, const PartsProbe& probe,
              ClusterProto* cluster) {
  for (size_t from = 0; from < names.size(); ++from) {
    for (size_t to = 0; to < names.size(); ++to) {
      if (from == to) continue;
      ClusterLinkProto* link = cluster->add_links();
      link->set_from(names[from]);
      link->set_to(names[to]);
      *link->mutable_link() = ToProto(probe.copies[from]);
    }
  }
}

std::string Measured(const PartsProbe& probe) {
  const auto gigabytes = [](Bandwidth rate) { return rate.bytes_per_s() * 1e-9; };
  std::string parts;
  for (size_t part = 0; part < probe.alone.size(); ++part) {
    parts += fmt::format("{}{:.0f} on {}", part == 0 ? "" : ", ", gigabytes(probe.alone[part]),
                         probe.multiprocessors[part]);
  }
  return fmt::format(
      "kernels that stream through memory reached {:.0f} GB/s on the whole GPU; on one part alone: "
      "{} SMs; on all parts together {:.0f}",
      gigabytes(probe.whole), parts, gigabytes(probe.together));
}

// Makes devices as they are while programs measure them: kernels are launched in recorded graphs,
// and a run lasts for seconds.
ImportedCluster AsMeasured(ImportedCluster imported) {
  for (NodeGroupProto& group : *imported.cluster.mutable_node_groups()) {
    NodeTypeProto* type = group.mutable_inline_node_type();
    if (!type->device().empty()) {
      *type->mutable_inline_device() =
          ToProto(DeviceCatalogue::Embedded().Get(type->device(), kPlace).device);
      type->clear_device();
    }
    type->mutable_inline_device()->set_host_dispatch_ns(0);
    type->mutable_inline_device()->set_pauses(true);
  }
  imported.notes.push_back(
      "devices are described as `run` and `profile` use them: kernels are launched in CUDA graphs "
      "(host_dispatch_ns 0), with pauses, so that short ones run at the boost clock "
      "(pauses: true); for hours of training in an eager framework remove both");
  return imported;
}

}  // namespace

std::vector<LocalGpu> SelectGpus(std::span<const LocalGpu> gpus, std::span<const int> numbers,
                                 const std::string& place) {
  std::vector<LocalGpu> selected;
  for (const int number : numbers) {
    if (number < 0 || number >= std::ssize(gpus)) {
      throw InputError(
          fmt::format("{}: got device {}, want 0 to {}", place, number, std::ssize(gpus) - 1));
    }
    selected.push_back(gpus[number]);
    std::vector<int>& nvlinks = selected.back().nvlinks;
    std::vector<int> among;
    for (const int other : numbers) {
      if (other >= 0 && other < std::ssize(nvlinks)) among.push_back(nvlinks[other]);
    }
    nvlinks = std::move(among);
  }
  return selected;
}

ImportedCluster ClusterOfGpus(std::span<const LocalGpu> gpus, const ImportOptions& options,
                              const std::string& place) {
  const LocalGpu& first = gpus[0];
  ImportedCluster result;
  ObservedNode node;
  node.gpu = &EntryOf(first, options, place);
  node.gpus = static_cast<int>(gpus.size());
  for (const LocalGpu& gpu : gpus) {
    if (gpu.name != first.name) {
      throw InputError(
          fmt::format("{}: got \"{}\" and \"{}\", want one GPU type", place, gpu.name, first.name));
    }
    node.switch_links.push_back(gpu.switch_links);
    node.nvlinks.push_back(gpu.nvlinks);
  }
  NoteDifferences(first, *node.gpu, &result.notes);
  node.port = PortOf(first, *node.gpu, &result.notes);
  NodeGroupProto* group = result.cluster.add_node_groups();
  group->set_count(1);
  *group->mutable_inline_node_type() = ToNodeType(node, "node", options, place, &result.notes);
  TakeSlowLinks(first, *node.gpu, group->mutable_inline_node_type(), &result.notes);
  return result;
}

ImportedCluster ClusterOfParts(const LocalGpu& gpu, const PartsProbe& probe,
                               const ImportOptions& options) {
  const DeviceEntry& entry = EntryOf(gpu, options, kPlace);
  ImportedCluster result;
  NoteDifferences(gpu, entry, &result.notes);
  std::vector<std::string> names;
  const size_t parts = probe.multiprocessors.size();
  for (size_t first = 0, next = 0; first < parts; first = next) {
    const int node = result.cluster.node_groups_size();
    while (next < parts && probe.multiprocessors[next] == probe.multiprocessors[first]) {
      names.push_back(fmt::format("node{}/gpu{}", node, next - first));
      ++next;
    }
    AddNode(DeviceOfPart(entry, gpu, probe, first), probe.copies[first],
            static_cast<int>(next - first), &result.cluster);
  }
  AddLinks(names, probe, &result.cluster);
  SharedMemoryProto* shared = result.cluster.add_shared_memory();
  for (const std::string& name : names) shared->add_devices(name);
  const Bandwidth together = Over(probe.together, probe.whole) * entry.device.memory_bandwidth;
  shared->set_bandwidth_bytes_per_s(together.bytes_per_s());
  result.notes.push_back(Measured(probe));
  return result;
}

ImportedCluster ImportLocalGpu(const LocalGpuWish& wish, const ImportOptions& options) {
  const bool are_shares = wish.parts.find(':') != std::string::npos;
  std::vector<int> sizes =
      are_shares ? ParseShares(wish.parts) : ParseNumbers("--parts", wish.parts, 1, kMostParts);
  if (sizes == std::vector<int>{1}) throw InputError("--parts: got 1, want two or more");
  const std::vector<LocalGpu> gpus = FindLocalGpus(kPlace);
  const std::vector<LocalGpu> selected =
      wish.gpu < 0 ? gpus : SelectGpus(gpus, std::vector{wish.gpu}, "--board");
  if (sizes.empty()) return AsMeasured(ClusterOfGpus(selected, options, kPlace));
  EntryOf(selected[0], options, kPlace);  // throws before the GPU is measured
  const int gpu = std::max(wish.gpu, 0);
  if (are_shares) {
    sizes = PartsByShares(FindGpuGroups(gpu, "--parts"), sizes, "--parts");
  } else if (sizes.size() == 1) {
    const int own = EqualPart(FindGpuGroups(gpu, "--parts"), sizes[0], "--parts");
    sizes.assign(static_cast<size_t>(sizes[0]), own);
  }
  return AsMeasured(ClusterOfParts(selected[0], ProbeParts(gpu, sizes, "--parts"), options));
}

}  // namespace stagecraft
