// What a simulated step sends: its collectives and messages by phase, stage and op, with the links
// on which they travel.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/collective_method.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/task_tag.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// The tasks of one phase, stage and op, with equal numbers of ranks and nodes; they may differ in
// bytes. A task that a folded schedule simulates once counts as often as the cluster runs it.
struct CommunicatorUse {
  Phase phase = Phase::kGradReduce;
  // Stands in place of `phase` for communication inside passes: "tensor parallel", "context
  // parallel" or "expert parallel".
  const char* group = nullptr;
  int stage = -1;
  OpKind kind = OpKind::kAllReduce;
  Fabric fabric;
  CollectiveMethod method;           // of the task with the most bytes
  int64_t groups = 0;                // distinct ones
  int64_t tasks = 0;                 // each of one group, or of several side by side
  Bytes bytes;                       // the full buffers of all groups of all tasks
  std::vector<int32_t> first_group;  // its devices

  bool IsMessage() const { return kind == OpKind::kSendRecv; }
};

// Returns the uses in order of phase and stage. Cost: one walk over the schedule.
std::vector<CommunicatorUse> FindCommunicators(const SimulatedStep& step);

// Returns the communication inside passes, which FindCommunicators() leaves out, in order of kind
// of parallelism and stage.
std::vector<CommunicatorUse> FindInnerCommunication(const SimulatedStep& step);

// Returns the links that the ring, or the message, of the first group crosses: those on the routes
// from each of its devices to the next and from the last to the first, or for a message only from
// the first to the second; distinct, ascending. Cost: a route from each device.
std::vector<int> LinksOf(const CommunicatorUse& use, const Cluster& cluster);

}  // namespace stagecraft
