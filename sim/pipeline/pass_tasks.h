// Lays the passes of one pipeline into a schedule: compute tasks in each
// worker's order, and the transfers between stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/micro_batch_shares.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// One replica of one stage.
struct PipelineWorker {
  int stage = 0;
  int replica = 0;
  int32_t rank = -1;  // of its first device, for tags
  PassOrder order;
  std::vector<WeightUpdate> updates;  // among its passes, in order; of asynchronous pipelines
  std::vector<Lane> compute;          // one per device: a pass holds them all
  std::vector<Lane> send_next;        // one per sending device
  std::vector<Lane> send_previous;    // likewise
  bool sends_block = false;           // a device computes nothing while it sends
};

// What passes and transfers cost, in blocks of ops, which may enter the schedule when they are
// first asked for.
class PassCosts {
 public:
  virtual ~PassCosts() = default;
  // The parts of a pass, one task each, run in order; at least one. `paired`: it
  // runs beside another pass.
  virtual std::span<const OpSequenceId> Parts(int worker, const Pass& pass, bool paired) = 0;
  // The message of one device of a worker that hands a pass on to the next worker; -1, for
  // all devices, where the two need no transfer and the receiver follows at once.
  virtual OpSequenceId Transfer(int from_worker, int to_worker, const Pass& pass, int device) = 0;
  // What a change of a worker's weights runs.
  virtual OpSequenceId Update(int /*worker*/) { return -1; }
  // Communicator of the message of one sending device; -1: not known.
  virtual int32_t Channel(int /*from_worker*/, int /*to_worker*/, int /*device*/) { return -1; }
};

// The tasks of every pass. `workers` by stage, then replica; `shares` by stage, which
// count from 0. Where there are several chains every stage has one replica.
class PassTasks {
 public:
  PassTasks(std::span<const PipelineWorker> workers, std::span<const MicroBatchShares> shares,
            const ChunkMap& map, PassCosts& costs, Schedule::Builder& builder);

  // First task of a pass; its parts have consecutive ids. `micro_batch` as in
  // Pass: counted within the worker's own.
  TaskId First(int worker, const Pass& pass) const { return first_[Slot(worker, pass)]; }
  TaskId Last(int worker, const Pass& pass) const { return last_[Slot(worker, pass)]; }
  // By index into PipelineWorker::updates; waits for nothing but its lanes yet.
  TaskId Update(int worker, size_t index) const { return updates_[worker][index]; }

 private:
  struct Neighbor {
    int worker = -1;
    Pass pass;
  };
  // A pass with those that run beside it.
  using Unit = std::span<const Pass>;
  // What hands on the output of a pass: its messages, else a task.
  struct HandOn {
    TaskId first = -1;
    int count = 0;
  };

  size_t Slot(int worker, const Pass& pass) const {
    const size_t place = static_cast<size_t>(worker) * map_.chunks() + pass.chunk;
    const int kind = pass.phase == Phase::kForward          ? 0
                     : pass.phase == Phase::kBackwardWeight ? 2
                                                            : 1;
    return base_[place] + static_cast<size_t>(pass.micro_batch) * kinds_ + kind;
  }
  void CountSlots();
  void FindLinks();
  // `step` 1: the pass that takes over what `pass` hands on, -1: the one that
  // feeds it; worker -1 where there is none.
  Neighbor Next(int worker, const Pass& pass, int step) const;
  int MicroBatchOf(int worker, const Pass& pass) const;
  void AddUnit(int worker, Unit unit, PassCosts& costs, Schedule::Builder& builder);
  void AddUpdate(int worker, PassCosts& costs, Schedule::Builder& builder);
  HandOn AddTransfers(int worker, const Pass& pass, TaskId after, PassCosts& costs,
                      Schedule::Builder& builder);
  void Connect(int worker, Unit unit, Schedule::Builder& builder) const;

  // A chunk that passes come from or go to; stage -1: none.
  struct Link {
    int stage = -1;
    int16_t chunk = 0;
  };

  std::span<const PipelineWorker> workers_;
  std::span<const MicroBatchShares> shares_;  // by stage
  bool is_single_ = true;                     // every stage has one worker
  ChunkMap map_;
  int kinds_ = 2;                  // of passes of a micro-batch: 3 where backwards are split
  std::vector<int> first_worker_;  // by stage
  std::vector<Link> links_;        // by stage and chunk: before it, behind it
  std::vector<size_t> base_;       // by worker and chunk: its first slot
  std::vector<TaskId> first_, last_;
  std::vector<HandOn> hand_on_;
  std::vector<std::vector<TaskId>> updates_;  // by worker
};

}  // namespace stagecraft
