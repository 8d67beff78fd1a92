// The GPUs of this machine as a cluster; one of them divided into several devices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/local_boards.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct LocalGpuWish {
  std::string parts;  // "64,68": multiprocessors of each; "4": so many equal ones; "3:5": shares; empty: none
  int board = -1;     // of CUDA's; -1: all, and of parts the first
};

// Looks at the machine, and with `parts` measures. Devices have no host that launches kernels one
// by one and keep their boost clock, as under `run`. Throws InputError where there is no CUDA or no
// GPU, for boards that are not there and sizes that the board cannot be divided into.
ImportedCluster ImportLocalGpu(const LocalGpuWish& wish, const ImportOptions& options);

// Those that `numbers` name, in that order, as if there were no others. Throws InputError, which
// `place` opens, for a number that is none of them.
std::vector<LocalBoard> SelectBoards(std::span<const LocalBoard> boards,
                                     std::span<const int> numbers, const std::string& place);

// One node of these boards without network interfaces. They are found in the catalogue by their
// name, else options.gpu says what they are. Throws InputError, which `place` opens, for boards
// of several kinds, names that are not there and a GPU that they clearly are not.
ImportedCluster ClusterOfBoards(std::span<const LocalBoard> boards, const ImportOptions& options,
                                const std::string& place);

// A device for each part of a board, equal neighbours in one node. Of the catalogue's numbers
// peaks and L2 go by multiprocessors, the memory by a part's share of all parts'. The memory
// bandwidth of a part, and of all together, is the catalogue's times what was measured over what
// the whole board reached: cost models take it as the datasheet does, and know what kernels reach
// of it. Links are copies as measured.
ImportedCluster ClusterOfParts(const LocalBoard& board, const PartsProbe& probe,
                               const ImportOptions& options);

}  // namespace stagecraft
