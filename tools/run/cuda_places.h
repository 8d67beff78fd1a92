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
  // 1: all ranks are parts of one GPU and one process runs them; else one a rank.
  int processes = 1;
  bool shares_gpus = false;  // processes may have a GPU in common
  int hosts = 1;
  int most_gpus = 1;  // that one host needs
};

// The hosts are the cluster's nodes; nodes with parts of one shared memory are one. Devices that
// share a memory are parts of a GPU, of as many multiprocessors as the devices have, any other
// device is a GPU; GPUs count in the order of devices. With `share_gpu` every rank is a
// process, on whatever GPU. Throws InputError for ranks of which some, not all, share a GPU,
// and with `share_gpu` for several hosts.
CudaPlaces PlaceRanks(std::span<const RankInfo> ranks, const Cluster& cluster, bool share_gpu);

// Throws InputError where the launcher started another number of processes than the ranks need,
// or put this one on another host than the cluster does.
void CheckProcess(const CudaPlaces& places, const ProcessRank& process);

// The places as this process sees its GPUs, of which there are `gpus`: a launcher may show
// each process one alone, and processes that share take turns.
std::vector<CudaPlace> PlacesHere(const CudaPlaces& places, const ProcessRank& process, int gpus);

// NCCL's variables for a process that shares its GPU with others: NCCL takes processes for
// hosts of their own, and connects them by sockets of the loopback interface.
std::vector<std::pair<std::string, std::string>> SharingVariables(int rank);

}  // namespace stagecraft
