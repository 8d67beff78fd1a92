#include "sim/analysis/exposed_ops.h"

namespace stagecraft {

CollectiveTime ExposedCollectives(const Schedule& schedule, OpSequenceId op_sequence,
                                  std::span<const Estimate> estimates) {
  CollectiveTime parts;
  ForEachExposed(schedule, op_sequence, estimates, [&](size_t i, Duration time) {
    if (!IsCollective(schedule.op(schedule.ops(op_sequence)[i]).kind)) return;
    const uint8_t flags = schedule.flags(op_sequence)[i];
    if ((flags & kContextGroup) != 0) {
      parts.context += time;
    } else if ((flags & kExpertGroup) != 0) {
      parts.expert += time;
    } else {
      parts.tensor += time;
    }
  });
  return parts;
}

}  // namespace stagecraft
