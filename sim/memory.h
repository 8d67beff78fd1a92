// What a plan needs of every device's memory.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/timeline.h"
#include "sim/workload.h"

namespace stagecraft {

// The peak of one rank of a stage, item by item.
struct StageMemory {
  int stage = 0;
  int device = 0;  // of the stage's fullest rank
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;    // saved from forward to backward, at their peak
  Bytes workspace;      // what one layer's passes need beside that
  Bytes communication;  // receive buffers, NCCL's own buffers
  Bytes framework;      // CUDA context and library handles
  Bytes fragmentation;
  Bytes capacity;

  // What the framework's allocator hands out.
  Bytes Allocated() const;
  // Everything the device holds.
  Bytes Peak() const;
  bool fits() const { return Peak() <= capacity; }
};

// One entry per stage, in pipeline order. The fullest replica counts: with
// uneven replicas the one with most micro-batches in flight, or least memory.
std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster);

// A change of what a rank holds.
struct MemoryChange {
  Duration time;
  Bytes used;  // from then on
};

// What each simulated rank holds over time: its static share, and activations
// from the start of a forward to the end of its backward. By rank.
std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline);

}  // namespace stagecraft
