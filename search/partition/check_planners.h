// What the pipelines of DAPPLE, PipeDream-2BW and HetPipe achieve, from their
// definitions. Stages hold every operator once and in order; devices are taken
// once; memory is kept.
#pragma once

#include <vector>

#include "search/partition/dapple.h"
#include "search/partition/het_pipe.h"
#include "search/partition/partition_check.h"
#include "search/partition/timed_graph.h"
#include "search/partition/two_buffer.h"

namespace stagecraft {

// Objective: seconds per step.
PartitionCheck CheckDapple(const TimedGraph& graph, const DappleOptions& options,
                           const DapplePlan& plan);

// Objective: profiled minibatches per second.
PartitionCheck CheckTwoBuffer(const TimedGraph& graph, const TwoBufferOptions& options,
                              const TwoBufferPlan& plan);

// Objective: minibatches per second of the worker made of `gpus`.
PartitionCheck CheckVirtualWorker(const TimedGraph& graph, const HetPipeOptions& options,
                                  const std::vector<int>& gpus, const VirtualWorker& worker);

}  // namespace stagecraft
