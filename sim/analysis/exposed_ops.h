// ExposedOps: the part of an op sequence's time that each of its ops accounts for. Among ops that
// run side by side the last counts in full (an op that overlaps the next is a collective, and the
// last one computes), and those before it count for the time by which they take longer.
#pragma once

#include <span>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Calls visit(i, time) for every op of ops(op_sequence) that is exposed at all; the times add up to
// the time of the op sequence on the device.
template <typename Visit>
void ForEachExposed(const Schedule& schedule, OpSequenceId op_sequence,
                    std::span<const Estimate> estimates, Visit visit) {
  const auto ops = schedule.ops(op_sequence);
  const auto flags = schedule.flags(op_sequence);
  for (size_t i = 0; i < ops.size(); ++i) {
    size_t last = i;
    while ((flags[last] & kOverlapsNext) != 0 && last + 1 < ops.size()) ++last;
    Duration covered;
    for (size_t k = last + 1; k-- > i;) {
      const Duration time = TimeBesideOthers(schedule, op_sequence, estimates, k);
      if (time <= covered) continue;
      visit(k, time - covered);
      covered = time;
    }
    i = last;
  }
}

// The time of exposed collectives of an op sequence, by the group that takes part.
struct CollectiveTime {
  Duration tensor, context, expert;
};
CollectiveTime ExposedCollectives(const Schedule& schedule, OpSequenceId op_sequence,
                                  std::span<const Estimate> estimates);

}  // namespace stagecraft
