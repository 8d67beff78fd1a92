// StageProblem: a graph of operators to be cut into stages, each on replicas of one kind of device,
// so that the slowest stage is as fast as possible. StagePlan is an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

// StageDeviceKind is a number of equal devices.
struct StageDeviceKind {
  int count = 1;
  double speed = 1;                            // relative to the device that was profiled
  std::optional<Bytes> memory = std::nullopt;  // no value: unlimited
};

struct StageProblem {
  TimedGraph graph;
  std::vector<StageDeviceKind> kinds;
  Bandwidth bandwidth;  // from every device to every other

  int devices() const;
};

// Returns a sentence for each thing that is wrong with the problem; empty if it is valid.
std::vector<std::string> FindErrors(const StageProblem& problem);

struct StageReplicas {
  int kind = 0;
  int replicas = 1;
  friend auto operator<=>(const StageReplicas&, const StageReplicas&) = default;
};

// In a StagePlan no stage is empty, an edge stays in its stage or leads to a later one, and devices
// may stay unused.
struct StagePlan {
  std::vector<int> stage_of;            // by node
  std::vector<StageReplicas> replicas;  // by stage
  int stages() const { return static_cast<int>(replicas.size()); }
  friend auto operator<=>(const StagePlan&, const StagePlan&) = default;
};

std::vector<std::string> FindErrors(const StageProblem& problem, const StagePlan& plan);

// Returns the plan with everything on one device of the first kind.
StagePlan OneStage(const StageProblem& problem);

// Returns every (kind, replicas) that the devices allow, by kind.
std::vector<StageReplicas> ReplicaChoices(const StageProblem& problem);

// Returns how many devices of each kind `plan` leaves unused.
std::vector<int> UnusedDevices(const StageProblem& problem, const StagePlan& plan);

}  // namespace stagecraft
