#include "sim/lowering/worker_messages.h"

#include <iterator>

#include "costmodel/divide.h"
#include "costmodel/hash.h"
#include "sim/lowering/exchange_devices.h"
#include "sim/shard/shard.h"

namespace stagecraft {

size_t WorkerMessages::KeyHash::operator()(const Key& key) const {
  return TableHash().Add(key.from).Add(key.to).Add(key.device).Add(key.bytes.count()).value();
}

WorkerMessages::WorkerMessages(LoweringContext& context, std::span<const LoweredWorker> workers)
    : context_(context), workers_(workers) {
  int64_t sent = 0;
  for (const LoweredWorker& worker : workers) {
    first_sent_.push_back(sent);
    sent += std::ssize(worker.ranks) * 2 * context.plan.pass_chunk_count();
  }
  sent_.resize(static_cast<size_t>(sent));
}

OpSequenceId WorkerMessages::OpSequence(int from, int to, const Pass& pass, int device) {
  if (from == to) return -1;
  Sent& sent = SentBy(from, pass, device);
  if (sent.to != to) sent = {to, FindOpSequence(from, to, pass, device), -1};
  return sent.op_sequence;
}

int32_t WorkerMessages::Channel(int from, int to, const Pass& pass, int device) {
  Sent& sent = SentBy(from, pass, device);
  if (sent.to != to) return FindChannel(from, to, device);
  if (sent.channel < 0) sent.channel = FindChannel(from, to, device);
  return sent.channel;
}

// A forward sends the output of the chunk's last layer, unless the receiver finds it in its cache;
// a backward sends the gradient of the output of the layer before its first, if some layer before
// it is trained.
OpSequenceId WorkerMessages::FindOpSequence(int from, int to, const Pass& pass, int device) {
  const LoweredWorker& sender = workers_[from];
  const LoweredWorker& receiver = workers_[to];
  const LayerRange range = context_.plan.stages[sender.stage].chunks[pass.chunk];
  const bool is_backward = pass.phase != Phase::kForward;
  if (is_backward && !context_.workload.layer(range.first).returns_gradient) return -1;
  const int layer = pass.phase == Phase::kForward ? range.first + range.count - 1 : range.first - 1;
  if (!is_backward && context_.workload.layer(layer).is_cached) return -1;
  const ShardSpec& shard = context_.op_sequences.shard(sender.shard);
  const ShardSpec& other = context_.op_sequences.shard(receiver.shard);
  const Bytes bytes = BoundaryBytes(context_.workload.layer(layer), shard);
  const auto [entry, is_new] = op_sequences_.try_emplace({from, to, device, bytes}, -1);
  if (!is_new) return entry->second;
  const Fabric& fabric = context_.placed.Messages(context_.plan, sender.stage, sender.replica,
                                                  receiver.stage, receiver.replica)[device];
  const bool is_scattered = context_.plan.framework.scatters_messages && shard.tensor > 1 &&
                            shard.tensor == other.tensor && !shard.sequence_parallel;
  if (!is_scattered) {
    entry->second =
        context_.op_sequences.SingleOp(Op::Collective(OpKind::kSendRecv, bytes, fabric));
    return entry->second;
  }
  const Bytes part = Bytes(DivideUp(bytes.count(), shard.tensor));
  entry->second = context_.op_sequences.OpSequenceOf(
      {Op::Collective(OpKind::kSendRecv, part, fabric),
       Op::Collective(OpKind::kAllGather, bytes, other.tensor_fabric)});
  return entry->second;
}

int32_t WorkerMessages::FindChannel(int from, int to, int device) {
  const auto [entry, is_new] = channels_.try_emplace({from, to, device, Bytes()}, -1);
  if (!is_new) return entry->second;
  const LoweredWorker& sender = workers_[from];
  const LoweredWorker& receiver = workers_[to];
  const MessageEnds ends = FindMessages(context_.plan, sender.stage, sender.replica, receiver.stage,
                                        receiver.replica)[device];
  entry->second = context_.builder.AddCommunicator({{ends.sender, ends.receiver}});
  return entry->second;
}

}  // namespace stagecraft
