// Describes the GPUs of this machine as a cluster, or one of them divided into several devices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/local_gpus.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct LocalGpuWish {
  // "64,68": multiprocessors of each part; "4": that many equal parts; "3:5": shares; empty: the
  // GPU is not divided.
  std::string parts;
  int gpu = -1;  // CUDA's number of a GPU; -1: all GPUs or, with parts, the first
};

// Looks at the machine and, if there are `parts`, measures them. The devices are as under `run`:
// they wait for no host that launches kernels one by one, and keep their boost clock. Throws
// InputError if there is no CUDA or no GPU, for numbers that no GPU has, and for sizes into which
// the GPU cannot be divided.
ImportedCluster ImportLocalGpu(const LocalGpuWish& wish, const ImportOptions& options);

// Returns the GPUs with these numbers, in that order, as if there were no others. Throws an
// InputError that begins with `place` for a number that no GPU has.
std::vector<LocalGpu> SelectGpus(std::span<const LocalGpu> gpus, std::span<const int> numbers,
                                 const std::string& place);

// Returns one node of these GPUs without network interfaces. options.gpu says which GPU type they
// are; if it is empty, they are found in the catalogue by their name. Throws an InputError that
// begins with `place` or "--gpu" for GPUs of several types, unknown names, and a type that they
// clearly are not.
ImportedCluster ClusterOfGpus(std::span<const LocalGpu> gpus, const ImportOptions& options,
                              const std::string& place);

// Returns a device for each part of a GPU; adjacent parts of equal size are one node. Peaks and L2
// are the catalogue's, times the part's share of the GPU's multiprocessors; the memory is divided
// by the part's share of all parts' multiprocessors. The memory bandwidth of a part, and that of
// all parts together, is the catalogue's times the measured rate over the rate that the whole GPU
// reached: cost models expect the datasheet's number, and know what share of it kernels reach.
// Links are as fast as copies were measured to be.
ImportedCluster ClusterOfParts(const LocalGpu& gpu, const PartsProbe& probe,
                               const ImportOptions& options);

}  // namespace stagecraft
