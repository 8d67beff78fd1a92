// The devices of a plan that exchange something: messages between stages, gradients of replicas,
// gradients of tied embeddings.
#pragma once

#include <vector>

#include "sim/cluster/message_fabrics.h"
#include "sim/lowering/fold.h"
#include "sim/plan/plan.h"
#include "sim/plan/tied_stages.h"

namespace stagecraft {

// The messages by which a replica of a stage hands on a micro-batch: from each of its devices
// one, to the device of the same index of the receiving replica, counted round where that has
// fewer.
std::vector<MessageEnds> FindMessages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica);

// The devices that reduce gradients together: the same of every stage that holds
// copies of this one's parameters.
std::vector<int> DataDevices(const Plan& plan, int stage, int tensor);

// The devices of a pipeline that add up the gradients of an embedding and a head that are one
// tensor: of each replica of the two stages that of index `rank`, counted round.
std::vector<int> TiedDevices(const Plan& plan, const TiedStages& tied,
                             const PipelineInstance& instance, int rank);

}  // namespace stagecraft
