// SimExecutor: replays a Schedule in virtual time, with durations from a cost
// model.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "sim/cluster.h"
#include "sim/engine.h"
#include "sim/executor.h"
#include "sim/schedule.h"
#include "sim/timeline.h"

namespace stagecraft {

// Estimates of a schedule's distinct ops on every kind of device it runs on.
struct BoundCosts {
  std::vector<Device> devices;                   // distinct, in order of rank
  std::vector<int> device_of_rank;               // into devices
  std::vector<std::vector<Estimate>> estimates;  // by device, then op
  std::vector<std::vector<Duration>> blocks;     // by device, then block

  // What a task takes: on several ranks, as long as the slowest of them.
  Duration TaskTime(const Schedule& schedule, TaskId task) const;
};

// One batched Predict() per kind of device.
BoundCosts BindCosts(const Schedule& schedule, const Cluster& cluster, const CostModel& model);

// A block runs its ops one after another; an op that overlaps the next starts
// with it, and both have ended before the op after that starts. The host launches
// them in the same order, one after another from the start of the block: an op
// cannot start before its launch is done.
Duration BlockTime(const Schedule& schedule, BlockId block, std::span<const Estimate> estimates);

class SimExecutor : public Executor {
 public:
  // Both must outlive the executor.
  SimExecutor(const Cluster& cluster, const CostModel& model) : cluster_(cluster), model_(model) {}

  Timeline Execute(const Schedule& schedule) override;

  // What the last Execute() ran with.
  const BoundCosts& costs() const { return costs_; }

 private:
  const Cluster& cluster_;
  const CostModel& model_;
  Engine engine_;
  BoundCosts costs_;
};

}  // namespace stagecraft
