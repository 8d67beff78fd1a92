// HetPipe's planner: virtual workers of unlike GPUs, each of which is a pipeline, that train in
// parallel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

// A server of equal GPUs.
struct HetPipeServer {
  int devices = 1;
  double speed = 1;  // relative to the GPU that was profiled
  Bytes memory;      // of a GPU
};

// Which GPUs make a virtual worker (Park et al., USENIX ATC 2020).
enum class VirtualWorkerPolicy {
  kNodePartition,      // NP: those of one server
  kEqualDistribution,  // ED: one of every server
  kHybrid,             // HD: half of a fast and half of a slow server
};

struct HetPipeOptions {
  std::vector<HetPipeServer> servers;
  Bandwidth inside;       // between GPUs of a server
  Bandwidth between;      // of two servers
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

// Minibatches per second of workers that train together, wave after wave: a worker may be ahead of
// the slowest by a bounded number of waves, so in the long run all go at its rate. Precondition: at
// least one worker.
double WaveRate(std::span<const VirtualWorker> workers);
// The sum of the workers' rates, as if none ever waited for another.
double AddedRate(std::span<const VirtualWorker> workers);

// The servers of each virtual worker's GPUs, one entry for each GPU. Empty if the policy does not
// apply: ED requires servers of one size, HD an even number of servers of one even size.
std::vector<std::vector<int>> VirtualWorkerGpus(const HetPipeOptions& options);

// Optimises one worker: the order of its GPUs and the cuts whose slowest stage (compute at the
// GPU's speed, input and its gradient, output and its gradient) is fastest, exactly, for each
// number of minibatches in flight; among these the greatest rate, then the fewest in flight. Stage
// i keeps max(1, in_flight - i) copies of weights and activations. No value if no cut fits the
// memory. O(orders * in flight * GPUs * states^2); equal GPUs of a server count as one. If it is
// stopped, it returns the best so far; throws Stopped if there is none yet.
std::optional<VirtualWorker> SolveVirtualWorker(const AntichainStates& states,
                                                const HetPipeOptions& options,
                                                const std::vector<int>& gpus,
                                                const StopSign& stop = {});

}  // namespace stagecraft
