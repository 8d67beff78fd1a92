// WorkerMessages: the messages by which the workers of one pipeline hand on their passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "sim/lowering/lowered_worker.h"
#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class WorkerMessages {
 public:
  // Both arguments must outlive this. Workers are identified by their index in `workers`.
  WorkerMessages(LoweringContext& context, std::span<const LoweredWorker> workers)
      : context_(context), workers_(workers) {}

  // Returns the send by which one device of a worker hands on a pass; -1 if a worker would send to
  // itself, or if the pass returns no gradient. Sends are added to the schedule when they are first
  // asked for.
  OpSequenceId OpSequence(int from, int to, const Pass& pass, int device);
  // Returns the communicator of this send, which is also added when it is first asked for.
  int32_t Channel(int from, int to, int device);

 private:
  // The sending and the receiving worker, and a third number.
  struct Key {
    int from = 0;
    int to = 0;
    int index = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  LoweringContext& context_;
  std::span<const LoweredWorker> workers_;
  // The third number stands for the layer whose output (or its gradient) is sent, and for the
  // sending device.
  std::unordered_map<Key, OpSequenceId, KeyHash> op_sequences_;
  // The third number is the sending device.
  std::unordered_map<Key, int32_t, KeyHash> channels_;
};

}  // namespace stagecraft
