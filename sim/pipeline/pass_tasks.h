// Lays the passes of one pipeline into a schedule: compute tasks in each
// worker's order, and the transfers between stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/micro_batch_shares.h"
#include "sim/pipeline/order.h"
#include "sim/schedule.h"

namespace stagecraft {

// One replica of one stage.
struct PipelineWorker {
  int stage = 0;
  int replica = 0;
  int32_t rank = -1;  // of its first device, for tags
  PassOrder order;
  std::vector<Lane> compute;        // one per device: a pass holds them all
  std::vector<Lane> send_next;      // one per sending device
  std::vector<Lane> send_previous;  // likewise
  bool sends_block = false;         // a device computes nothing while it sends
};

// What passes and transfers cost, in blocks of ops.
class PassCosts {
 public:
  virtual ~PassCosts() = default;
  // The parts of a pass, one task each, run in order; at least one.
  virtual std::span<const BlockId> Parts(int worker, const Pass& pass) const = 0;
  // What a pass hands to the next worker, per sending device; -1 where the two
  // need no transfer and the receiver follows at once.
  virtual BlockId Transfer(int from_worker, int to_worker, const Pass& pass) const = 0;
  // Communicator of the message of one sending device; -1: not known.
  virtual int32_t Channel(int /*from_worker*/, int /*to_worker*/, int /*device*/) const {
    return -1;
  }
};

// The tasks of every pass. `workers` by stage, then replica; `shares` by stage,
// which count from 0 and all have `chunks` chunks. Chunk c of stage s feeds chunk c of stage
// s + 1, the last stage's chunk c feeds the first stage's chunk c + 1.
class PassTasks {
 public:
  PassTasks(std::span<const PipelineWorker> workers, std::span<const MicroBatchShares> shares,
            int chunks, const PassCosts& costs, Schedule::Builder& builder);

  // First task of a pass; its parts have consecutive ids. `micro_batch` as in
  // Pass: counted within the worker's own.
  TaskId First(int worker, const Pass& pass) const { return first_[Slot(worker, pass)]; }
  TaskId Last(int worker, const Pass& pass) const { return last_[Slot(worker, pass)]; }

 private:
  struct Neighbor {
    int worker = -1;
    Pass pass;
  };
  size_t Slot(int worker, const Pass& pass) const {
    const size_t index = base_[worker] + static_cast<size_t>(pass.chunk) * own_[worker] +
                         static_cast<size_t>(pass.micro_batch);
    return 2 * index + (pass.phase == Phase::kBackward ? 1 : 0);
  }
  // The pass that takes over what `pass` hands on; worker -1 at the end.
  Neighbor Next(int worker, const Pass& pass) const;
  void AddPasses(int worker, const PassCosts& costs, Schedule::Builder& builder);
  void Connect(int worker, Schedule::Builder& builder) const;

  std::span<const PipelineWorker> workers_;
  std::span<const MicroBatchShares> shares_;  // by stage
  int stages_;
  int chunks_;
  std::vector<int> first_worker_;  // by stage
  std::vector<size_t> base_;       // by worker: its first slot pair
  std::vector<size_t> own_;        // by worker: its own micro-batches
  std::vector<TaskId> first_, last_;
  std::vector<TaskId> send_;  // first transfer of a pass, -1 for none
};

}  // namespace stagecraft
