#include "sim/memory/expanded_matrices.h"

#include <algorithm>
#include <cstddef>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "sim/memory/caching_allocator.h"

namespace stagecraft {
namespace {

bool IsExpanded(const Op& op) {
  return op.kind == OpKind::kSparse && op.product == SparseProduct::kExpanded;
}

}  // namespace

bool AddExpandedMatrices(const Schedule& schedule, std::vector<StageMemory>& memory) {
  const auto ops = schedule.distinct_ops();
  if (std::none_of(ops.begin(), ops.end(), IsExpanded)) return false;
  std::vector<Bytes> of_sequence(static_cast<size_t>(schedule.op_sequence_count()));
  for (int sequence = 0; sequence < schedule.op_sequence_count(); ++sequence) {
    for (const OpId id : schedule.ops(sequence)) {
      const Op& op = schedule.op(id);
      if (!IsExpanded(op)) continue;
      const Bytes matrix = TensorBytes(op.dtype, op.batch * op.k * op.n);
      of_sequence[sequence] = std::max(of_sequence[sequence], CachingAllocator::Rounded(matrix));
    }
  }
  std::vector<Bytes> of_stage(memory.size());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const int stage = schedule.tag(task).stage;
    if (stage < 0 || stage >= static_cast<int>(of_stage.size())) continue;
    if (schedule.op_sequence(task) < 0) continue;
    of_stage[stage] = std::max(of_stage[stage], of_sequence[schedule.op_sequence(task)]);
  }
  for (StageMemory& own : memory) {
    own.workspace += of_stage[own.stage];
    own.allocated += of_stage[own.stage];
  }
  return true;
}

}  // namespace stagecraft
