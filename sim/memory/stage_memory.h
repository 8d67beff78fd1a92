// StageMemory: how much memory a plan needs on the devices of a stage.
#pragma once

#include <memory>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Beyond this share of a device's memory cudaMalloc retries show in measured steps; it is a rule of
// thumb.
inline constexpr double kCrowdedShare = 0.95;

// StageMemory is the peak of one rank of a stage, with its items at the moment when the most is
// allocated.
struct StageMemory {
  int stage = 0;
  int device = 0;  // the device of the stage's fullest rank
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;    // kept from one pass to a later one
  Bytes workspace;      // temporaries of the pass that runs, workspaces of libraries
  Bytes communication;  // messages to other stages, NCCL's own buffers
  Bytes framework;      // CUDA context and library handles
  Bytes fragmentation;  // the part of the allocator's segments that no tensor uses
  Bytes capacity;
  // These are not among the items: what the rank holds in the memory of its host, and its share of
  // that memory.
  Bytes host;
  Bytes host_capacity;

  // This is what the framework's allocator has handed out at its peak.
  Bytes allocated;
  // Returns what the allocator holds of the GPU: allocated memory and fragmentation.
  Bytes Reserved() const { return allocated + fragmentation; }
  // Returns what lies outside of the allocator: the CUDA context and NCCL's own buffers.
  Bytes Outside() const { return Peak() - Reserved(); }
  // Returns everything that the device holds: the sum of the items.
  Bytes Peak() const {
    return weights + gradients + optimizer + activations + workspace + communication + framework +
           fragmentation;
  }
  // Returns the peak as a share of the capacity.
  double Share() const {
    return static_cast<double>(Peak().count()) / static_cast<double>(capacity.count());
  }
  bool fits() const { return Peak() <= capacity && host <= host_capacity; }
  // Whether it fits, but so tightly that the allocator is likely to run out of segments, give those
  // that are free back to the device and try again, which slows a step by an unknown amount.
  bool IsCrowded() const { return fits() && Share() > kCrowdedShare; }
  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

// Estimates plans one after another, and remembers what they may have in common: layers, chunks,
// and how their tensors fit into segments. No result depends on what it remembers.
class MemoryEstimator {
 public:
  // All arguments must outlive it.
  MemoryEstimator(const Workload& workload, const Cluster& cluster,
                  const FrameworkMemory& framework = {});
  ~MemoryEstimator();

  // Returns one entry for each stage, in pipeline order, for its fullest replica: if replicas
  // differ, one that does not fit or else the one with the least room on its device.
  std::vector<StageMemory> Estimate(const Plan& plan);
  // Does the same without fragmentation, which takes most of the time; no device needs less than
  // this.
  std::vector<StageMemory> EstimateTensors(const Plan& plan);
  // Does the same as Estimate(), but leaves out fragmentation if some stage does not fit even
  // without it.
  std::vector<StageMemory> EstimateIfTensorsFit(const Plan& plan);
  // Returns the memory of one replica of a stage.
  StageMemory EstimateReplica(const Plan& plan, int stage, int replica);

 private:
  struct Remembered;
  class Estimator;
  enum class Fragmentation { kAlways, kIfTensorsFit, kNever };
  std::vector<StageMemory> Estimate(const Plan& plan, Fragmentation fragmentation);

  const Cluster& cluster_;
  std::unique_ptr<Remembered> remembered_;
};

// These do the same for a single plan.
std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster,
                                        const FrameworkMemory& framework = {});
StageMemory EstimateReplicaMemory(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster, int stage, int replica,
                                  const FrameworkMemory& framework = {});

}  // namespace stagecraft
