// The GPUs of this machine: their types, the links between them, and what parts of one can do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/cuda/part_sizes.h"

namespace stagecraft {

// A GPU as CUDA and NVIDIA's management library (NVML) see it.
struct LocalGpu {
  std::string name;  // "NVIDIA H200"
  int multiprocessors = 0;
  Bytes memory;             // all that the GPU has
  int pcie_generation = 0;  // the highest that GPU and slot support; 0: not known
  int pcie_lanes = 0;
  // The number of active links to NVSwitches, and to each of these GPUs.
  int switch_links = 0;
  std::vector<int> nvlinks;
  Bandwidth nvlink;  // of one link in one direction, as the driver states it; zero: not known
};

// Returns the GPUs in CUDA's order. Without NVML, what it would state is not known. Throws an
// InputError, a sentence that begins with `place`, if this build has no CUDA or the machine no GPU.
std::vector<LocalGpu> FindLocalGpus(const std::string& place);

// Returns the number of GPUs, at least one; throws in the same cases.
int CountLocalGpus(const std::string& place);

// Returns how GPU `gpu` can be divided; throws in the same cases, and if the GPU does not exist.
GpuGroups FindGpuGroups(int gpu, const std::string& place);

// The bandwidths at which kernels that copy long vectors read and write memory, and the times of
// copies.
struct PartsProbe {
  std::vector<int> multiprocessors;  // by part
  Bandwidth whole;                   // of kernels on the undivided GPU
  std::vector<Bandwidth> alone;      // by part, while the others idle
  Bandwidth together;                // of all parts at once
  std::vector<Link> copies;          // by part: what it needs to copy into another part's memory
};

// Divides a GPU and measures its parts, which takes about a second. `parts` must be as
// ShareGroups() requires. Throws in the same cases, and if too little memory is free.
PartsProbe ProbeParts(int gpu, std::span<const int> parts, const std::string& place);

}  // namespace stagecraft
