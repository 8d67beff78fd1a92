#include "runtime/shaped_work.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Calls f(task, op) for each op of the tasks that a rank takes part in.
template <typename F>
void ForEachOp(const Schedule& schedule, const RankProgram& program, F f) {
  for (const RankStep& step : program.steps) {
    const OpSequenceId op_sequence = schedule.op_sequence(step.task);
    if (op_sequence < 0) continue;
    for (const OpId op : schedule.ops(op_sequence)) f(step.task, schedule.op(op));
  }
}

Bytes LargestTouched(const Schedule& schedule, const RankProgram& program) {
  Bytes largest;
  ForEachOp(schedule, program, [&](TaskId, const Op& op) {
    if (!IsCollective(op.kind)) largest = std::max(largest, HostOps::Touched(op));
  });
  return largest;
}

size_t Elements(Bytes bytes) { return static_cast<size_t>(DivideUp(bytes.count(), sizeof(float))); }

}  // namespace

ShapedWork::ShapedWork(const Schedule& schedule, const RankProgram& program)
    : schedule_(schedule), ops_(LargestTouched(schedule, program)) {
  ForEachOp(schedule, program, [&](TaskId task, const Op& op) {
    if (!IsCollective(op.kind)) return;
    std::vector<std::vector<float>>& buffers = lanes_[LaneOf(task)].buffers;
    buffers.resize(program.window + 1);
    for (std::vector<float>& buffer : buffers) {
      if (buffer.size() < Elements(op.bytes)) buffer.resize(Elements(op.bytes));
    }
  });
}

const Op& ShapedWork::OpOf(TaskId task, int index) const {
  return schedule_.op(schedule_.ops(schedule_.op_sequence(task))[index]);
}

void ShapedWork::Run(TaskId task, int index) { ops_.Run(OpOf(task, index)); }

std::span<float> ShapedWork::Buffer(TaskId task, int index) {
  LaneBuffers& lane = lanes_.at(LaneOf(task));
  std::vector<float>& buffer = lane.buffers[lane.next++ % lane.buffers.size()];
  return {buffer.data(), Elements(OpOf(task, index).bytes)};
}

}  // namespace stagecraft
