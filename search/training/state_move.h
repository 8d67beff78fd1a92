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
  Duration time;
  Bytes bytes;             // over all links, of all devices
  int layers = 0;          // that change their stage
  Bytes most_beside = {};  // the most that a device holds of states that arrive beside its own
};

// The weights, master copies and moments of layers that are on another stage in `after` than in
// `before` go from each device to the one with the same place in the other stage's replica, layer
// by layer in both directions of every device at once, over the cluster's links. A device of ZeRO
// sends its own share. Both plans are for the same replicas and degrees, but `after` may have fewer
// stages. Linear in the layers that move, times the devices of a stage.
StateMove MoveStates(const Plan& before, const Plan& after, const Workload& workload,
                     const Cluster& cluster, const CostModel& model,
                     const SimulationOptions& options = {});

}  // namespace stagecraft
