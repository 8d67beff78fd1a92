// VirtualWorker: a pipeline of unlike GPUs, as HetPipe's planner makes them; several virtual
// workers train in parallel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

// HetPipeServer is a server of equal GPUs.
struct HetPipeServer {
  int devices = 1;
  double speed = 1;  // relative to the GPU that was profiled
  Bytes memory;      // of a GPU
};

// Which GPUs form a virtual worker (Park et al., USENIX ATC 2020).
enum class VirtualWorkerPolicy {
  kNodePartition,      // NP: those of one server
  kEqualDistribution,  // ED: one of every server
  kHybrid,             // HD: half of a fast and half of a slow server
};

struct HetPipeOptions {
  std::vector<HetPipeServer> servers;
  Bandwidth inside;       // between GPUs of a server
  Bandwidth between;      // between GPUs of two servers
  Duration latency = {};  // in addition, between servers
  VirtualWorkerPolicy policy = VirtualWorkerPolicy::kEqualDistribution;
  int most_in_flight = 32;  // minibatches in a virtual worker, N_m
};

struct HetPipeStage {
  int server = 0;
  NodeSet nodes;
  double time_s = 0;  // for one minibatch, including transfers in and out
  double memory_bytes = 0;
};

struct VirtualWorker {
  std::vector<HetPipeStage> stages;
  int in_flight = 1;
  double bottleneck_s = 0;
  double rate_per_s = 0;  // minibatches: min(1 / bottleneck, in_flight / all stages)
};

// Returns the minibatches per second of workers that train together, wave after wave: a worker may
// be ahead of the slowest by a bounded number of waves, so in the long run all have its rate.
// Precondition: there is at least one worker.
double WaveRate(std::span<const VirtualWorker> workers);
// Returns the sum of the workers' rates, as if none ever waited for another.
double AddedRate(std::span<const VirtualWorker> workers);

// Returns, for each virtual worker, the server of each of its GPUs. Empty if the policy does not
// apply: ED requires servers of one size, HD an even number of servers of one even size.
std::vector<std::vector<int>> VirtualWorkerGpus(const HetPipeOptions& options);

// Optimises one worker. For each number of minibatches in flight, finds the order of its GPUs and
// the cuts whose slowest stage (compute at the GPU's speed, input and its gradient, output and its
// gradient) is fastest, exactly; of these returns the one with the greatest rate, then the fewest
// in flight. Stage i keeps max(1, in_flight - i) copies of weights and activations. No value if no
// cuts fit the memory. O(orders * in flight * GPUs * states^2); orders that differ only in GPUs of
// the same server count as one. If it is stopped, it returns the best so far; throws Stopped if
// there is none yet.
std::optional<VirtualWorker> SolveVirtualWorker(const AntichainStates& states,
                                                const HetPipeOptions& options,
                                                const std::vector<int>& gpus,
                                                const StopSign& stop = {});

}  // namespace stagecraft
