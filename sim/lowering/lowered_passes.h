// LoweredPasses: the first part of a lowering, the passes of every simulated pipeline. Later parts
// add what data-parallel ranks exchange beside and after the passes, and the update that ends a
// step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/lowering/lowered_worker.h"
#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pass_tasks.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class LoweredPasses {
 public:
  // Adds the passes to the schedule. A pass beside which gradients are reduced or parameters
  // gathered (TrafficRules) has one task for each bucket.
  explicit LoweredPasses(LoweringContext& context);

  // Ordered by instance of the folding, then stage, then replica.
  std::span<const LoweredWorker> workers() const { return workers_; }
  // Indices of the workers of a stage.
  std::vector<size_t> WorkersOf(int stage) const;
  // The compute lanes of all ranks, by rank.
  std::span<const Lane> compute_lanes() const { return compute_lanes_; }

  // The first and the last task of a pass of a worker.
  TaskId First(size_t worker, const Pass& pass) const;
  TaskId Last(size_t worker, const Pass& pass) const;
  // The task of an update, by index into LoweredWorker::updates.
  TaskId Update(size_t worker, size_t index) const;

 private:
  void AddInstance(LoweringContext& context, int index);
  // The index of a worker among those of its pipeline.
  int IndexInInstance(size_t worker) const;

  std::vector<LoweredWorker> workers_;
  std::vector<size_t> instance_begin_;  // first worker of each instance
  std::vector<PassTasks> tasks_;        // by instance
  std::vector<Lane> compute_lanes_;     // by rank
};

}  // namespace stagecraft
