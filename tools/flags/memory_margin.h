// MemoryMargin: the part of every device's memory that a plan has to leave free.
//
// Predicted memory has an error, and other programs need some, too. The margin works as
// torch.cuda.set_per_process_memory_fraction() does: a plan fits if it runs in what is left. It is
// taken off a cluster before anything is estimated, so that every verdict is about what is left. So
// is what the driver of a board keeps for itself (UsableMemory()).
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/stage_memory.h"

namespace stagecraft {

inline constexpr double kUsualMemoryMargin = 5;  // per cent: an assumption

struct MemoryMargin {
  double percent = 0;             // of a device's memory; at least 0, less than 100
  std::vector<Bytes> capacities;  // what programs can have of a device, by node group

  // Returns all that programs can have of the device that a stage of a plan on the cluster is
  // measured against.
  Bytes CapacityOf(const StageMemory& stage, const Cluster& cluster) const;
  // Whether the stage fits, but so tightly that the allocator of the device, which knows of no
  // margin, is likely to run out of segments (StageMemory::IsCrowded()).
  bool IsCrowded(const StageMemory& stage, const Cluster& cluster) const;
  // Returns ", which is 80.00 less a margin of 5 %"; empty if the margin is 0.
  std::string Text(const StageMemory& stage, const Cluster& cluster) const;
};

// Parses a margin in per cent, "5" or "5%". Throws InputError that names --memory-margin unless it
// is 0 or from 0.5 to 90; a smaller number is probably meant as a share, such as 0.05.
double ParseMemoryMargin(const std::string& text);

// Takes this much off the memory of all devices of the cluster.
MemoryMargin TakeMemoryMargin(double percent, Cluster& cluster);

}  // namespace stagecraft
