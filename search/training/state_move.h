// MoveStates(): what it takes to give a running pipeline another division of its layers.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct StateMove {
  Duration time;           // from the first message to the end of the last
  Bytes bytes;             // over all links, of all devices
  int layers = 0;          // that change their stage
  Bytes most_beside = {};  // the most that a device holds of states that arrive beside its own
};

// Simulates how a run moves from one plan to another: the weights, master copies and moments of
// layers that are on another stage in `after` than in `before` go from each device to the one with
// the same place in the other stage's replica, layer by layer in both directions of every device at
// once, over the cluster's links. A device of ZeRO sends its own share. Preconditions: both plans
// are for this workload and cluster, with the same replicas and degrees, but `after` may have fewer
// stages. Throws LinkDownError if a link that is needed is down. Linear in the layers that move,
// times the devices of a stage.
StateMove MoveStates(const Plan& before, const Plan& after, const Workload& workload,
                     const Cluster& cluster, const CostModel& model,
                     const SimulationOptions& options = {});

}  // namespace stagecraft
