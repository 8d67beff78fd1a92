// SmallRun(): small runs with round numbers, for tests.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/job/cluster_event.h"
#include "sim/job/job_run.h"

namespace stagecraft {

inline Duration Seconds(double seconds) { return Duration::Seconds(seconds); }

inline Cluster SwitchedNodes(int nodes) { return Cluster("nodes", {{Switched(), nodes}}); }

inline EventTarget DeviceNumber(int index) { return {EventTarget::Kind::kDevice, index}; }
inline EventTarget NodeNumber(int index) { return {EventTarget::Kind::kNode, index}; }
inline EventTarget LinkNumber(int index) { return {EventTarget::Kind::kLink, index}; }
inline EventTarget RackNumber(int index) { return {EventTarget::Kind::kRack, index}; }

inline ClusterEvent At(double seconds, EventTarget target, ClusterEvent::What what,
                       double rate = 1) {
  ClusterEvent event{target, what, rate};
  event.at = Seconds(seconds);
  return event;
}
inline ClusterEvent AtStep(int64_t step, EventTarget target, ClusterEvent::What what) {
  ClusterEvent event{target, what};
  event.at_step = step;
  return event;
}
inline ClusterEvent Leaves(double seconds, EventTarget target, double notice) {
  ClusterEvent event = At(seconds, target, ClusterEvent::What::kLeave);
  event.notice = Seconds(notice);
  return event;
}
inline ClusterEvent Fails(double seconds, EventTarget target) {
  return At(seconds, target, ClusterEvent::What::kFail);
}
inline ClusterEvent Recovers(double seconds, EventTarget target) {
  return At(seconds, target, ClusterEvent::What::kRecover);
}

// A step of 10 s that the slowest device or link sets; no step while a link is down.
inline std::optional<RunningStep> TenSecondStep(const ClusterState& state, int /*network*/) {
  double rate = 1;
  for (const auto& slow : state.slow) rate = std::min(rate, slow.second);
  for (const auto& slow : state.slow_links) rate = std::min(rate, slow.second);
  if (rate == 0) return std::nullopt;
  return RunningStep{Seconds(10 / rate), 16};
}

// Returns a run with steps of 10 s on two nodes with eight devices each, and checkpoints of 5 s
// every 30 s. It takes 2 s until a failure is noticed, 3 s to restart and 4 s to reload.
inline RunSpec SmallRun(const Cluster& cluster, int64_t steps) {
  RunSpec spec;
  spec.cluster = &cluster;
  spec.steps = steps;
  spec.checkpoint = {.interval = Seconds(30), .write = Seconds(5)};
  spec.recovery.detection = Seconds(2);
  spec.recovery.restart = Seconds(3);
  spec.recovery.reload = Seconds(4);
  spec.step = TenSecondStep;
  return spec;
}

// Returns "computing 0+3 until 30": the steps before a phase, its own, and its end in s.
inline std::vector<std::string> PhaseLines(const History& history) {
  std::vector<std::string> lines;
  for (const RunPhase& phase : history.phases) {
    lines.push_back(fmt::format("{} {}+{} until {:g}", Name(phase.kind), phase.first_step,
                                phase.steps, (phase.start + phase.length).seconds()));
  }
  return lines;
}

}  // namespace stagecraft
