// The GPUs of this machine: what they are, how they are joined, and what parts of one reach.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/cuda/part_sizes.h"

namespace stagecraft {

// A board as CUDA and NVIDIA's management library (NVML) see it.
struct LocalBoard {
  std::string name;  // "NVIDIA H200"
  int multiprocessors = 0;
  Bytes memory;             // all of it
  int pcie_generation = 0;  // that board and slot can have; 0: not known
  int pcie_lanes = 0;
  // Links that are up, to NVSwitches and to each of these boards.
  int switch_links = 0;
  std::vector<int> nvlinks;
  Bandwidth nvlink;  // of one link, one direction, as the driver states it; zero: not known
};

// In CUDA's order. Where NVML is missing, what it says is not known. Throws InputError, a
// sentence that begins with `place`, where this build has no CUDA, the machine no GPU.
std::vector<LocalBoard> FindLocalBoards(const std::string& place);

// How many there are, at least one; throws likewise.
int CountLocalBoards(const std::string& place);

// How `board` can be divided; throws likewise, also for a board that is not there.
BoardGroups FindBoardGroups(int board, const std::string& place);

// What kernels that copy long vectors read and write together, and what copies take.
struct PartsProbe {
  std::vector<int> multiprocessors;  // by part
  Bandwidth whole;                   // of kernels on the undivided board
  std::vector<Bandwidth> alone;      // by part, the others idle
  Bandwidth together;                // of all parts at once
  std::vector<Link> copies;          // by part: what it copies into another's memory
};

// Divides a board and measures its parts for about a second. `parts` as ShareGroups() wants
// them. Throws likewise, also where too little memory is left.
PartsProbe ProbeParts(int board, std::span<const int> parts, const std::string& place);

}  // namespace stagecraft
