// Helpers for tests of laws that plans and their schedules obey.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"

namespace stagecraft::laws {

inline std::string Describe(const PlanDegrees& d) {
  return fmt::format(
      "tp {} pp {} cp {} by {} ep {} vpp {} zero {} group {} micro-batch {} recompute {} sp {} "
      "overlap {}{} vocabulary {}",
      d.tensor, d.pipeline, d.context, Name(d.context_exchange), d.expert, d.chunks, d.zero,
      d.zero_group, d.micro_batch, Name(d.recompute), d.sequence_parallel, d.overlap_grad_reduce,
      d.overlap_param_gather, Name(d.schedule_options.vocabulary));
}

// Returns the plan for the same batch, in the same micro-batches, on one device.
inline PlanDegrees OnOneDevice(PlanDegrees d) {
  d.tensor = d.pipeline = d.context = d.expert = d.chunks = 1;
  d.schedule = PipelineSchedule::kOneForwardOneBackward;
  d.schedule_options.vocabulary = VocabularyPlacement::kFirstLast;
  d.zero = d.zero_group = 0;
  d.overlap_tensor = false;
  return d;
}

// Returns the FLOPs of a step on all devices.
inline double TotalFlops(const Schedule& schedule) {
  std::vector<double> of_block(schedule.op_sequence_count(), 0);
  for (OpSequenceId op_sequence = 0; op_sequence < schedule.op_sequence_count(); ++op_sequence) {
    for (const OpId op : schedule.ops(op_sequence))
      of_block[op_sequence] += schedule.op(op).Flops().count();
  }
  double flops = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const Lane lane : schedule.lanes(task)) {
      const LaneInfo& info = schedule.lane_infos()[Index(lane)];
      if (info.kind != LaneKind::kCompute) continue;
      flops += of_block[schedule.op_sequence(task)] * schedule.ranks()[info.rank].multiplicity;
    }
  }
  return flops;
}

// Returns the number of devices for which the simulated ranks stand.
inline int RepresentedDevices(const Schedule& schedule) {
  int devices = 0;
  for (const RankInfo& rank : schedule.ranks()) devices += rank.multiplicity;
  return devices;
}

}  // namespace stagecraft::laws
