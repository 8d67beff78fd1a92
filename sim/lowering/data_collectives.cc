#include "sim/lowering/data_collectives.h"

#include <vector>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// torch.distributed of that time gathers into a list of tensors, one for each rank, and scatters
// from one: the host makes every tensor of the list and launches its copy from or to the flat
// buffer that NCCL needs. What that takes for each rank was measured: it is what the calls of
// frameworks add to the times of their collectives (median over sources; `fit --network` prints
// it, costmodel/network/harness.h).
constexpr Duration kListedInGather = Duration::Nanoseconds(10'900);
constexpr Duration kListedInReduction = Duration::Nanoseconds(17'700);

// The work for the lists of so many calls; their copies read and write every byte.
std::vector<Op> ListOps(OpKind kind, int64_t calls, int64_t ranks, Bytes bytes) {
  const Duration of_rank = kind == OpKind::kAllGather ? kListedInGather : kListedInReduction;
  return {Op::Profiled(calls * ranks, of_rank), Op::Elementwise(2 * bytes, /*kernels=*/0)};
}

}  // namespace

OpSequenceId DataCollectives::Collective(OpKind kind, int64_t bytes, const Communicator& among) {
  for (const Known& known : known_) {
    if (known.bytes == bytes && known.kind == kind && known.communicator == among.id &&
        known.sync == among.sync) {
      return known.op_sequence;
    }
  }
  Op op = Op::Collective(kind, Bytes(bytes), among.fabric);
  op.sync = among.sync;
  const OpSequenceId op_sequence = context_.op_sequences.SingleOp(op);
  known_.push_back({kind, bytes, among.id, among.sync, op_sequence});
  return op_sequence;
}

TaskId DataCollectives::Add(OpKind kind, int64_t bytes, const Communicator& among, const Tag& tag,
                            std::span<const TaskId> after) {
  const TaskId task =
      context_.builder.Add(group_.lanes, after, Collective(kind, bytes, among), tag);
  context_.builder.SetCommunicator(task, among.id);
  return task;
}

TaskId DataCollectives::AddEach(OpKind kind, int64_t parameters, std::span<const int64_t> tensors,
                                int64_t element_bytes, const Communicator& among, const Tag& tag,
                                std::span<const TaskId> after) {
  if (tensors.empty()) return Add(kind, parameters * element_bytes, among, tag, after);
  std::vector<Op> ops;
  Bytes bytes;
  for (const int64_t elements : tensors) {
    ops.push_back(Op::Collective(kind, Bytes(elements * element_bytes), among.fabric));
    ops.back().sync = among.sync;
    bytes += ops.back().bytes;
  }
  const auto add = [&](const std::vector<Op>& of_task, std::span<const TaskId> before) {
    return context_.builder.Add(group_.lanes, before, context_.op_sequences.OpSequenceOf(of_task),
                                tag);
  };
  const TaskId calls = add(ops, after);
  context_.builder.SetCommunicator(calls, among.id);
  return add(ListOps(kind, std::ssize(tensors), among.fabric.ranks, bytes), {&calls, 1});
}

TaskId DataCollectives::Gather(const ParameterCount& parameters, const Tag& tag,
                               std::span<const TaskId> after, std::span<const int64_t> tensors) {
  const int64_t bytes = context_.plan.WorkingBytes();
  const TaskId dense = AddEach(OpKind::kAllGather, parameters.dense, tensors, bytes,
                               group_.dense.sharing, tag, after);
  if (parameters.expert == 0 || group_.experts.shards() == 1) return dense;
  return Add(OpKind::kAllGather, parameters.expert * bytes, group_.experts.sharing, tag,
             {&dense, 1});
}

TaskId DataCollectives::BroadcastAmong(const Holders& holders, int64_t parameters, const Tag& tag,
                                       std::span<const TaskId> after) {
  const int64_t shards = holders.shards();
  const int64_t bytes = DivideUp(parameters, shards) * context_.plan.WorkingBytes();
  TaskId last = -1;
  for (int64_t rank = 0; rank < shards; ++rank) {
    const std::span<const TaskId> before = rank == 0 ? after : std::span<const TaskId>(&last, 1);
    last = Add(OpKind::kBroadcast, bytes, holders.sharing, tag, before);
  }
  return last;
}

TaskId DataCollectives::Broadcast(const ParameterCount& parameters, const Tag& tag,
                                  std::span<const TaskId> after) {
  const TaskId dense = BroadcastAmong(group_.dense, parameters.dense, tag, after);
  if (parameters.expert == 0 || group_.experts.shards() == 1) return dense;
  return BroadcastAmong(group_.experts, parameters.expert, tag, {&dense, 1});
}

// Reduces the gradients to a single sum for all holders, or to one share each, which the holders of
// its copies then add up.
TaskId DataCollectives::ReduceAmong(const Holders& holders, int64_t parameters, const Tag& tag,
                                    std::span<const TaskId> after,
                                    std::span<const int64_t> tensors) {
  const Plan& plan = context_.plan;
  const int64_t bytes = parameters * plan.gradient_bytes;
  if (plan.zero == 0) {
    Communicator among = holders.all;
    const bool is_last_chunk = tag.chunk < 0 || tag.chunk == plan.chunk_count() - 1;
    // A dead server is noticed once per step, by the first reduction.
    if (!is_last_chunk || tag.segment > 0) among.sync.timeout = Duration();
    return Add(OpKind::kAllReduce, bytes, among, tag, after);
  }
  const TaskId last = AddEach(OpKind::kReduceScatter, parameters, tensors, plan.gradient_bytes,
                              holders.sharing, tag, after);
  if (holders.copies.fabric.ranks == 1) return last;
  return Add(OpKind::kAllReduce, DivideUp(bytes, holders.shards()), holders.copies, tag,
             {&last, 1});
}

TaskId DataCollectives::Reduce(const ParameterCount& parameters, const Tag& tag,
                               std::span<const TaskId> after, std::span<const int64_t> tensors) {
  const TaskId dense = ReduceAmong(group_.dense, parameters.dense, tag, after, tensors);
  if (parameters.expert == 0 || group_.experts.all.fabric.ranks == 1) return dense;
  return ReduceAmong(group_.experts, parameters.expert, tag, {&dense, 1});
}

}  // namespace stagecraft
