// BoundCosts: what the ops and blocks of a schedule cost on the devices it runs on.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// What a block takes of the device, and of the host that launches its ops in the
// same order: an op cannot start before its launch is done.
struct BlockTimes {
  Duration device;  // were every op launched in time
  Duration lead;    // later than that, were the device idle when the host begins
  Duration host;    // all launches

  Duration FromIdle() const { return lead + device; }
};

// Ops run one after another; one that overlaps the next starts with it, and both
// have ended before the op after that starts.
BlockTimes TimesOf(const Schedule& schedule, BlockId block, std::span<const Estimate> estimates);

// Estimates of a schedule's distinct ops on every kind of device it runs on.
struct BoundCosts {
  std::vector<Device> devices;                   // distinct, in order of rank
  std::vector<int> device_of_rank;               // into devices
  std::vector<std::vector<Estimate>> estimates;  // by device, then op
  std::vector<std::vector<BlockTimes>> blocks;   // by device, then block

  // What a task takes: on several ranks, as long as the slowest of them.
  BlockTimes TaskTimes(const Schedule& schedule, TaskId task) const;
  // How the first of a task's ops runs on the first of its ranks.
  const CollectiveMethod& MethodOf(const Schedule& schedule, TaskId task) const;
};

// One batched Predict() per kind of device. Throws InputError where the tasks would take more
// than kLongestTime, one after another.
BoundCosts BindCosts(const Schedule& schedule, const Cluster& cluster, const CostModel& model);

// Throws InputError where a step of that length is longer than kLongestTime.
void CheckStepTime(Duration time, const Cluster& cluster);

}  // namespace stagecraft
