// ToTimedGraph(): the operators of a workload as a graph to be cut, with times on one device.
#pragma once

#include <cstdint>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// WorkloadBatch is one micro-batch, on one device that holds the whole network.
struct WorkloadBatch {
  int64_t samples = 1;
  int64_t sequence = 1;
  DType precision = DType::kBf16;
};

// Returns every operator of every layer, called "layer.operator"; branches are those of the
// workload. Forward and backward are the times that `model` predicts for the kernels on the device,
// without launches and recomputation; the activation is the output, parameters are the weights in
// the working precision.
//
// Between layers a workload says only which operators read what came before, and how many bytes are
// handed on: all outputs of a layer that no operator of that layer reads feed those operators, and
// the last of these outputs also carries the rest of the bytes handed on (skip connections over
// several layers).
//
// Throws InputError for a profile (its times are those of another GPU), for a workload with frozen
// layers (it adds up whole backwards), and for a precision that the device does not have.
TimedGraph ToTimedGraph(const Workload& workload, const WorkloadBatch& batch, const Device& device,
                        const CostModel& model);

}  // namespace stagecraft
