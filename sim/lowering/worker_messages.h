// WorkerMessages: the messages by which the workers of one pipeline hand on their passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/units.h"
#include "sim/lowering/lowered_worker.h"
#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class WorkerMessages {
 public:
  // Both arguments must outlive this. Workers are identified by their index in `workers`.
  WorkerMessages(LoweringContext& context, std::span<const LoweredWorker> workers);

  // Returns the send by which one device of a worker hands on a pass; -1 if a worker would send to
  // itself, or if the pass returns no gradient. Sends are added to the schedule when they are first
  // asked for.
  OpSequenceId OpSequence(int from, int to, const Pass& pass, int device);
  // Returns the communicator of this send, which is also added when it is first asked for.
  int32_t Channel(int from, int to, const Pass& pass, int device);

 private:
  // The sending and the receiving worker, the sending device, and the size of a message.
  struct Key {
    int from = 0;
    int to = 0;
    int device = 0;
    Bytes bytes;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  // What one device of a worker sends after the passes of one chunk in one direction, and to whom.
  struct Sent {
    int to = -1;
    OpSequenceId op_sequence = -1;
    int32_t channel = -1;
  };

  // Where a device of a worker keeps what it sends after a pass.
  Sent& SentBy(int from, const Pass& pass, int device) {
    const auto devices = static_cast<int64_t>(workers_[from].ranks.size());
    const int64_t chunk = 2 * pass.chunk + (pass.phase == Phase::kForward ? 0 : 1);
    return sent_[first_sent_[from] + chunk * devices + device];
  }
  OpSequenceId FindOpSequence(int from, int to, const Pass& pass, int device);
  int32_t FindChannel(int from, int to, int device);

  LoweringContext& context_;
  std::span<const LoweredWorker> workers_;
  // The last message of every chunk. Only if stages differ in their numbers of replicas do several
  // workers take turns in it.
  std::vector<Sent> sent_;
  std::vector<int64_t> first_sent_;  // by worker
  std::unordered_map<Key, OpSequenceId, KeyHash> op_sequences_;
  std::unordered_map<Key, int32_t, KeyHash> channels_;  // of messages of any size
};

}  // namespace stagecraft
