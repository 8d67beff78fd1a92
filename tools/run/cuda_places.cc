#include "tools/run/cuda_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns, by node, the first of the nodes that are on the same host.
std::vector<int> FirstNodes(const Cluster& cluster) {
  std::vector<int> first(cluster.node_count());
  std::iota(first.begin(), first.end(), 0);
  for (const SharedMemory& shared : cluster.shared_memories()) {
    int least = cluster.node_count();
    std::set<int> old;
    for (const int device : shared.devices) {
      old.insert(first[cluster.place(device).node]);
      least = std::min(least, first[cluster.place(device).node]);
    }
    for (int& node : first) {
      if (old.contains(node)) node = least;
    }
  }
  return first;
}

// Returns, by device, the number of its GPU among those of its host.
std::vector<int> GpusOf(const Cluster& cluster, const std::vector<int>& first_nodes) {
  std::vector<int> gpus;
  std::map<int, int> count;      // by host
  std::map<int, int> of_memory;  // by shared memory
  for (int device = 0; device < cluster.device_count(); ++device) {
    int& next = count[first_nodes[cluster.place(device).node]];
    const int memory = cluster.shared_memory(device);
    if (memory < 0) {
      gpus.push_back(next++);
      continue;
    }
    const auto [known, is_new] = of_memory.emplace(memory, next);
    if (is_new) ++next;
    gpus.push_back(known->second);
  }
  return gpus;
}

}  // namespace

CudaPlaces PlaceRanks(std::span<const RankInfo> ranks, const Cluster& cluster, bool share_gpu) {
  const std::vector<int> first_nodes = FirstNodes(cluster);
  const std::vector<int> gpus = GpusOf(cluster, first_nodes);
  CudaPlaces result;
  result.shares_gpus = share_gpu;
  std::set<std::pair<int, int>> used;  // host, GPU
  for (const RankInfo& rank : ranks) {
    const bool is_part = cluster.shared_memory(rank.device) >= 0;
    result.host.push_back(first_nodes[cluster.place(rank.device).node]);
    result.places.push_back(
        {.gpu = gpus[rank.device],
         .multiprocessors = is_part ? cluster.device(rank.device).multiprocessors : 0});
    result.most_gpus = std::max(result.most_gpus, gpus[rank.device] + 1);
    used.emplace(result.host.back(), gpus[rank.device]);
  }
  result.hosts = static_cast<int>(std::set<int>(result.host.begin(), result.host.end()).size());
  const bool is_one_gpu = used.size() == 1;
  if (share_gpu && result.hosts > 1) {
    throw InputError(
        fmt::format("--share-gpu: got a plan on {} hosts, want a plan on one host", result.hosts));
  }
  if (!share_gpu && !is_one_gpu && used.size() < ranks.size()) {
    throw InputError(fmt::format(
        "--cluster: got {} ranks on {} GPUs, want all on one, or each on one of its own; "
        "--share-gpu makes each rank a process",
        ranks.size(), used.size()));
  }
  result.processes = is_one_gpu && !share_gpu ? 1 : static_cast<int>(ranks.size());
  return result;
}

void CheckProcess(const CudaPlaces& places, const ProcessRank& process) {
  if (process.size != places.processes) {
    throw InputError(fmt::format("got {} processes, want {}, {}", process.size, places.processes,
                                 places.processes == 1 ? "as all ranks are parts of one GPU"
                                                       : "one for each rank of the plan"));
  }
  const auto here = places.host.begin() + process.rank;
  const auto local = std::count(places.host.begin(), here, *here);
  if (process.size > 1 && process.local_rank != local) {
    throw InputError(fmt::format(
        "got rank {} as the one with local rank {} on its host, want {}, the ranks that "
        "--cluster has before it there",
        process.rank, process.local_rank, local));
  }
}

std::vector<CudaPlace> PlacesHere(const CudaPlaces& places, const ProcessRank& process, int gpus) {
  std::vector<CudaPlace> here = places.places;
  if (process.size == 1 || (gpus > 1 && !places.shares_gpus)) return here;
  for (CudaPlace& place : here) place.gpu %= gpus;
  return here;
}

std::vector<std::pair<std::string, std::string>> SharingVariables(int rank) {
  return {{"NCCL_HOSTID", fmt::format("stagecraft-rank-{}", rank)},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_NET", "Socket"},
          // No NVLink switch connects processes on one GPU.
          {"NCCL_NVLS_ENABLE", "0"},
          {"NCCL_MNNVL_ENABLE", "0"}};
}

}  // namespace stagecraft
