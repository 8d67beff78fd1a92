// BoundCosts: what the ops and op sequences of a schedule cost on the devices on which they run.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// What an op sequence takes of the device, and of the host that launches its ops in the same order:
// an op cannot start before its launch is done.
struct OpSequenceTimes {
  Duration device;  // if every op were launched in time
  Duration lead;    // how much later, if the device is idle when the host begins
  Duration host;    // all launches

  Duration FromIdle() const { return lead + device; }
};

// Returns how long the op at `index` of an op sequence takes if the collectives that overlap it
// slow it down for as long as they run (Estimate::slowdown).
Duration TimeBesideOthers(const Schedule& schedule, OpSequenceId op_sequence,
                          std::span<const Estimate> estimates, size_t index);

// Ops run one after another; an op that overlaps the next starts with it, and both have ended
// before the op after that starts.
OpSequenceTimes TimesOf(const Schedule& schedule, OpSequenceId op_sequence,
                        std::span<const Estimate> estimates);

// Estimates of a schedule's distinct ops on every distinct device on which it runs; devices that
// compute at different speeds are distinct.
struct BoundCosts {
  std::vector<Device> devices;                             // in order of rank
  std::vector<int> device_of_rank;                         // into devices
  std::vector<std::vector<Estimate>> estimates;            // by device, then op
  std::vector<std::vector<OpSequenceTimes>> op_sequences;  // by device, then op sequence
  // By task, how much longer it took in the last simulation because of what ran beside it; empty if
  // nothing did. The times above are without it.
  std::vector<Duration> stretched = {};

  // What a task takes; a task on several ranks takes as long as on the slowest of them.
  OpSequenceTimes TaskTimes(const Schedule& schedule, TaskId task) const;
  // Returns what one of the ops of a task takes alone, on the slowest of its ranks.
  Duration OpTime(const Schedule& schedule, TaskId task, OpId op) const;
  // Returns how one of the ops of a task runs on the first of its ranks.
  const CollectiveMethod& MethodOf(const Schedule& schedule, TaskId task, OpId op) const;
};

// Calls Predict() once for each distinct device, with all ops. What slow parts of the cluster
// (SlowParts) make longer is longer in the estimates: compute of slow devices, and collectives and
// messages over slow links. Throws InputError if the tasks, one after another, would take more than
// kLongestTime.
BoundCosts BindCosts(const Schedule& schedule, const Cluster& cluster, const CostModel& model);

// Throws InputError if a step of that length is longer than kLongestTime.
void CheckStepTime(Duration time, const Cluster& cluster);

}  // namespace stagecraft
