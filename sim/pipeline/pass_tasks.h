// Adds the passes of one pipeline to a schedule: compute tasks in each worker's pass order, and the
// transfers between stages.
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
  int32_t rank = -1;                  // of its first device, for tags
  std::span<const Pass> order;        // must outlive the construction of PassTasks
  std::vector<WeightUpdate> updates;  // in the order of its passes; only of asynchronous pipelines
  std::vector<Lane> compute;          // one per device; a pass occupies all of them
  std::vector<Lane> send_next;        // one per sending device
  std::vector<Lane> send_previous;    // one per sending device
  std::vector<Lane> exchange;         // one per device, if PassCosts::Exchanges() gives any
  bool sends_block = false;           // a device computes nothing while it sends
};

// What passes and transfers cost, as op sequences, which may be added to the schedule only
// when they are first asked for.
class PassCosts {
 public:
  virtual ~PassCosts() = default;
  // Returns the parts of a pass, at least one, which run in order as one task each. `paired`: the
  // pass runs beside another one.
  virtual std::span<const OpSequenceId> Parts(int worker, const Pass& pass, bool paired) = 0;
  // Returns what a pass that runs beside another one exchanges meanwhile, in a task of its own; -1
  // if there is nothing.
  virtual OpSequenceId Exchanges(int /*worker*/, const Pass& /*pass*/) { return -1; }
  // Returns the message by which one device of a worker hands a pass on to the next worker; -1, for
  // all devices alike, if the two workers need no transfer and the receiver can follow at once.
  virtual OpSequenceId Transfer(int from_worker, int to_worker, const Pass& pass, int device) = 0;
  // Returns what a worker runs to change its weights.
  virtual OpSequenceId Update(int /*worker*/) { return -1; }
  // Returns the communicator of that message; -1 if it is not known.
  virtual int32_t Channel(int /*from_worker*/, int /*to_worker*/, const Pass& /*pass*/,
                          int /*device*/) {
    return -1;
  }
};

// The tasks of every pass. `workers` are ordered by stage, then replica; `shares` are by stage.
// Stages are numbered from 0. If there are several chains every stage must have one replica. Passes
// of chunks beyond those of `map` neither take nor hand on anything: whoever lists them adds what
// they wait for and what waits for them.
class PassTasks {
 public:
  PassTasks(std::span<const PipelineWorker> workers, std::span<const MicroBatchShares> shares,
            const ChunkMap& map, PassCosts& costs, Schedule::Builder& builder);

  // The first task of a pass, whose parts have consecutive ids. As in Pass, micro_batch counts
  // those of the worker.
  TaskId First(int worker, const Pass& pass) const { return first_[Slot(worker, pass)]; }
  TaskId Last(int worker, const Pass& pass) const { return last_[Slot(worker, pass)]; }
  // The task of an update, by index into PipelineWorker::updates; as yet it waits for its lanes
  // only.
  TaskId Update(int worker, size_t index) const { return updates_[worker][index]; }

 private:
  struct Neighbor {
    int worker = -1;
    Pass pass;
  };
  // A pass together with those that run beside it.
  using Unit = std::span<const Pass>;
  // The tasks that hand on the output of a pass: its messages or, without a transfer, the pass
  // itself.
  struct HandOn {
    TaskId first = -1;
    int count = 0;
  };

  size_t Slot(int worker, const Pass& pass) const {
    const size_t place = static_cast<size_t>(worker) * chunks_ + pass.chunk;
    const int kind = pass.phase == Phase::kForward          ? 0
                     : pass.phase == Phase::kBackwardWeight ? 2
                                                            : 1;
    return base_[place] + static_cast<size_t>(pass.micro_batch) * kinds_ + kind;
  }
  // Whether a pass is of a chunk beyond those of the map, which has no part in its chain.
  bool IsApart(const Pass& pass) const { return pass.chunk >= map_.chunks(); }
  void CountChunks();
  void CountSlots();
  void FindLinks();
  // Returns with `step` 1 the pass that takes the output of `pass`, with -1 the one whose output
  // `pass` takes; its worker is -1 if there is none.
  Neighbor Next(int worker, const Pass& pass, int step) const;
  int MicroBatchOf(int worker, const Pass& pass) const;
  Tag TagOf(int worker, const Pass& pass) const;
  void AddUnit(int worker, Unit unit, PassCosts& costs, Schedule::Builder& builder);
  void AddUpdate(int worker, PassCosts& costs, Schedule::Builder& builder);
  // Adds what the passes of a unit exchange beside it. It begins with the unit, and the unit is
  // over when it is.
  void AddExchanges(int worker, Unit unit, HandOn before, PassCosts& costs,
                    Schedule::Builder& builder);
  HandOn AddTransfers(int worker, const Pass& pass, HandOn after, PassCosts& costs,
                      Schedule::Builder& builder);
  void Connect(int worker, Unit unit, Schedule::Builder& builder) const;

  // A chunk that passes come from or go to; stage -1 if there is none.
  struct Link {
    int stage = -1;
    int16_t chunk = 0;
  };

  std::span<const PipelineWorker> workers_;
  std::span<const MicroBatchShares> shares_;  // by stage
  bool is_single_ = true;                     // every stage has one worker
  ChunkMap map_;
  int chunks_ = 0;                 // of every worker, with those beyond the map
  int kinds_ = 2;                  // of passes of a micro-batch: 3 if backwards are split
  std::vector<int> first_worker_;  // by stage
  std::vector<Link> links_;        // by stage and chunk: the one before it, the one after it
  std::vector<size_t> base_;       // by worker and chunk: its first slot
  std::vector<TaskId> first_, last_;
  std::vector<HandOn> hand_on_;
  std::vector<std::vector<TaskId>> updates_;  // by worker
  // These are by worker: the last task on its compute lanes with the exchanges beside it, which
  // follow it.
  std::vector<HandOn> end_;
  // By slot of a unit's first pass: the exchanges of the unit; empty if no worker has lanes for
  // them.
  std::vector<HandOn> exchanges_;
};

}  // namespace stagecraft
