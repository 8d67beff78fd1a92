// Where the ranks of a schedule run on GPUs, and as how many processes.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_run.h"
#include "runtime/process_rank.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

struct CudaPlaces {
  std::vector<CudaPlace> places;  // by rank
  std::vector<int> host;          // by rank
  // 1 if all ranks are on one GPU, or parts of it: one process runs them. Else one for each rank.
  int processes = 1;
  bool shares_gpus = false;  // processes may share a GPU
  int hosts = 1;
  int most_gpus = 1;  // the most GPUs that a host needs
};

// Returns where each rank runs. The hosts are the nodes of the cluster, but nodes whose devices
// share a memory are one host. Devices that share a memory are parts of one GPU, with as many
// multiprocessors as the cluster says; any other device is a GPU of its own. The GPUs of a host are
// numbered in the order of its devices. With `share_gpu` every rank is a process, on whatever GPU
// there is. Throws InputError if some ranks share a GPU but not all share the same one, and with
// `share_gpu` if there are several hosts.
CudaPlaces PlaceRanks(std::span<const RankInfo> ranks, const Cluster& cluster, bool share_gpu);

// Throws InputError if the launcher started another number of processes than the ranks need, or if
// it put this one on another host than the cluster does.
void CheckProcess(const CudaPlaces& places, const ProcessRank& process);

// Returns the places with GPUs numbered as this process sees them; it sees `gpus` of them. A
// launcher may show each process only its own GPU, and processes that share GPUs are assigned to
// them in turn.
std::vector<CudaPlace> PlacesHere(const CudaPlaces& places, const ProcessRank& process, int gpus);

// Returns the environment variables of NCCL for a process that shares its GPU with others. With
// them NCCL takes each process for a host of its own and connects them by sockets of the loopback
// interface.
std::vector<std::pair<std::string, std::string>> SharingVariables(int rank);

}  // namespace stagecraft
