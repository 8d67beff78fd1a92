// Checks the pipelines of DAPPLE, PipeDream-2BW and HetPipe: that stages hold every operator once
// and in order, that no device is taken twice, and that memory suffices. Computes their objectives
// from the definitions.
#pragma once

#include <vector>

#include "search/partition/dapple.h"
#include "search/partition/het_pipe.h"
#include "search/partition/partition_check.h"
#include "search/partition/timed_graph.h"
#include "search/partition/two_buffer.h"

namespace stagecraft {

// The objective is seconds per training step.
PartitionCheck CheckDapple(const TimedGraph& graph, const DappleOptions& options,
                           const DapplePlan& plan);

// The objective is profiled minibatches per second.
PartitionCheck CheckTwoBuffer(const TimedGraph& graph, const TwoBufferOptions& options,
                              const TwoBufferPlan& plan);

// The objective is minibatches per second of the worker that consists of `gpus`.
PartitionCheck CheckVirtualWorker(const TimedGraph& graph, const HetPipeOptions& options,
                                  const std::vector<int>& gpus, const VirtualWorker& worker);

}  // namespace stagecraft
