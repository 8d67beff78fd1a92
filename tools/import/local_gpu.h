// The GPUs of this machine as a cluster, or one of them divided into several devices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/local_gpus.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct LocalGpuWish {
  // "64,68": multiprocessors of each part; "4": that many equal parts; "3:5": shares; empty: none.
  std::string parts;
  int gpu = -1;  // CUDA's number; -1: all, or with parts the first
};

// Looks at the machine, and with `parts` measures. Devices have no host that launches kernels one
// by one and keep their boost clock, as under `run`. Throws InputError if there is no CUDA or no
// GPU, for GPUs that are not there and sizes into which the GPU cannot be divided.
ImportedCluster ImportLocalGpu(const LocalGpuWish& wish, const ImportOptions& options);

// The GPUs that `numbers` name, in that order, as if there were no others. Throws an InputError,
// which `place` opens, for a number that none of them has.
std::vector<LocalGpu> SelectGpus(std::span<const LocalGpu> gpus, std::span<const int> numbers,
                                 const std::string& place);

// One node of these GPUs without network interfaces. They are found in the catalogue by their name,
// or else options.gpu says what they are. Throws an InputError, which `place` opens, for GPUs of
// several types, unknown names and a type that they clearly are not.
ImportedCluster ClusterOfGpus(std::span<const LocalGpu> gpus, const ImportOptions& options,
                              const std::string& place);

// A device for each part of a GPU, with equal neighbours in one node. Of the catalogue's numbers,
// peaks and L2 are divided by multiprocessors, the memory by a part's share of all parts'. The
// memory bandwidth of a part, and of all together, is the catalogue's times what was measured over
// what the whole GPU reached: cost models expect the datasheet's number, and know what kernels
// reach of it. Links are copies as measured.
ImportedCluster ClusterOfParts(const LocalGpu& gpu, const PartsProbe& probe,
                               const ImportOptions& options);

}  // namespace stagecraft
