// The devices of a plan that exchange data: messages between stages, gradients of replicas,
// gradients of tied embeddings.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/message_fabrics.h"
#include "sim/lowering/fold.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns the messages by which a replica of a stage hands on a micro-batch. Each of its devices
// sends one, to the device with the same index in the receiving replica; if that has fewer devices,
// indices wrap around.
std::vector<MessageEnds> FindMessages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica);

// Returns the devices that reduce gradients together: those with this tensor index, in every stage
// that holds copies of this stage's parameters.
std::vector<int> DataDevices(const Plan& plan, int stage, int tensor);

// Returns the devices of a pipeline that exchange what concerns a tensor of several stages: in each
// replica of each of these the device with index `rank`, which wraps around.
std::vector<int> TiedDevices(const Plan& plan, std::span<const int> stages,
                             const PipelineInstance& instance, int rank);

// Returns the devices of a pipeline that exchange what concerns a split vocabulary: those with
// index `rank` in the replicas of all stages, which have equally many.
std::vector<int> PipelineDevices(const Plan& plan, const PipelineInstance& instance, int rank);

}  // namespace stagecraft
