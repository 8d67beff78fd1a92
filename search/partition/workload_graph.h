// The operators of a workload as a graph to be cut, with times on one device.
#pragma once

#include <cstdint>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// One micro-batch on one undivided device.
struct WorkloadBatch {
  int64_t samples = 1;
  int64_t sequence = 1;
  DType precision = DType::kBf16;
};

// Every operator of every layer, called "layer.operator"; branches are those of the workload.
// Forward and backward are the times that `model` predicts for the kernels on the device, without
// launches and recomputation; the activation is the output, parameters are the weights in the
// working precision.
//
// Between layers a workload says only who reads what came before, and how much is handed on: all
// outputs of a layer that nobody in it reads feed those readers, and the last of these outputs also
// carries what the others leave of the bytes handed on (skip connections over several layers).
//
// Throws InputError for a profile (its times are those of another GPU) and for a precision that the
// device does not have.
TimedGraph ToTimedGraph(const Workload& workload, const WorkloadBatch& batch, const Device& device,
                        const CostModel& model);

}  // namespace stagecraft
