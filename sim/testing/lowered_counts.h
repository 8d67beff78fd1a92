// What tests count in lowered schedules of chains of layers, and plans of such chains.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {

// Links that take no time.
inline Cluster FreeCluster(int devices) {
  NodeType node = MakeNode(MakeDevice("fast", 100e12), devices);
  node.intra.latency = Duration();
  node.intra.bandwidth = Bandwidth(1e18);
  node.fallback = node.intra;
  return Cluster("free", {{node, 1}});
}

// A stage for each layer of a chain.
inline PlanDegrees LayerEach(int layers) {
  PlanDegrees degrees = Degrees(1, layers);
  degrees.stage_blocks.assign(layers, 1);
  degrees.stage_blocks.front() = degrees.stage_blocks.back() = 0;
  return degrees;
}

// The sum of the bytes of all collectives of this kind in tasks of this phase.
inline int64_t BytesOf(const Schedule& schedule, Phase phase, OpKind kind) {
  int64_t bytes = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.tag(task).phase != phase || schedule.op_sequence(task) < 0) continue;
    for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
      if (schedule.op(op).kind == kind) bytes += schedule.op(op).bytes.count();
    }
  }
  return bytes;
}

inline int TasksOf(const Schedule& schedule, Phase phase, int stage = -1) {
  int tasks = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    tasks += tag.phase == phase && (stage < 0 || tag.stage == stage) ? 1 : 0;
  }
  return tasks;
}

}  // namespace stagecraft
