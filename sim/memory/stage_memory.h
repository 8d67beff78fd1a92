// StageMemory: what a plan needs of every device's memory.
#pragma once

#include <memory>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The peak of one rank of a stage, item by item as they are when most is
// allocated.
struct StageMemory {
  int stage = 0;
  int device = 0;  // of the stage's fullest rank
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;    // kept from a pass to a later one
  Bytes workspace;      // temporaries of the pass that runs, workspaces of libraries
  Bytes communication;  // messages to other stages, NCCL's own buffers
  Bytes framework;      // CUDA context and library handles
  Bytes fragmentation;  // of the allocator's segments, what no tensor has
  Bytes capacity;
  // Beside all these, of its host's memory what the rank has there, and its share of it.
  Bytes host;
  Bytes host_capacity;

  // What the framework's allocator hands out at its peak.
  Bytes allocated;
  // What it holds of the board: allocated and fragmentation.
  Bytes Reserved() const { return allocated + fragmentation; }
  // Everything the device holds: the sum of the items.
  Bytes Peak() const {
    return weights + gradients + optimizer + activations + workspace + communication + framework +
           fragmentation;
  }
  // The peak as a share of what is there.
  double Share() const {
    return static_cast<double>(Peak().count()) / static_cast<double>(capacity.count());
  }
  bool fits() const { return Peak() <= capacity && host <= host_capacity; }
  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

// Estimates plans one after another, and remembers of each what others have too: layers,
// chunks, and how their tensors fit in segments. Nothing depends on what it remembers.
class MemoryEstimator {
 public:
  // All must outlive it.
  MemoryEstimator(const Workload& workload, const Cluster& cluster,
                  const FrameworkMemory& framework = {});
  ~MemoryEstimator();

  // One entry per stage, in pipeline order. The fullest replica counts: with
  // uneven replicas the one with most micro-batches in flight, or least memory.
  std::vector<StageMemory> Estimate(const Plan& plan);
  // The same without fragmentation, which takes most of the time: no device needs less.
  std::vector<StageMemory> EstimateTensors(const Plan& plan);
  // Of one replica of a stage.
  StageMemory EstimateReplica(const Plan& plan, int stage, int replica);

 private:
  struct Remembered;
  class Estimator;
  std::vector<StageMemory> Estimate(const Plan& plan, bool with_fragmentation);

  const Cluster& cluster_;
  std::unique_ptr<Remembered> remembered_;
};

// The same of one plan.
std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster,
                                        const FrameworkMemory& framework = {});
StageMemory EstimateReplicaMemory(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster, int stage, int replica,
                                  const FrameworkMemory& framework = {});

}  // namespace stagecraft
