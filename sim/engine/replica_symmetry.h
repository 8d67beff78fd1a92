// ReplicaSymmetry: data-parallel replicas whose tasks, devices and links are images of each other,
// so that a simulation of a few of them knows the times of all.
//
// A shift moves every device of replica r to the same place in replica r + k, and the last k
// replicas to the first ones. If it maps nodes to nodes of the same type, rings to themselves, and
// the tasks of the schedule to tasks that run the same ops, occupy the shifted lanes in the same
// order and depend on each other in the same way, then it maps the simulation of the schedule to
// itself: tasks that are images of each other start and end together, and links that are carry the
// same. Max-min fair rates have one solution, so flows that are images of each other have one rate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

struct ReplicaSymmetry {
  // The tasks of the first k replicas, with their ops and communicators under the same numbers. A
  // task of all replicas occupies only the lanes of these.
  Schedule representatives;
  std::vector<TaskId> task_of;   // by task of `representatives`: the same in the whole schedule
  std::vector<int32_t> rank_of;  // the same by rank
  std::vector<bool> is_of_all;   // by task of `representatives`: whether it is its own image
  std::vector<TaskId> like;      // by task of the whole schedule: its image in `representatives`
  std::vector<int> next_device;  // by device: where the shift moves it; itself if nothing uses it
  std::vector<int> link_like;    // by link of the cluster: the image that stands for it
  int images = 0;                // of each of the representatives; at least 2

  // Whether the shift moves a device list to itself, turned on by `turn` places.
  bool Turns(const std::vector<int32_t>& group, size_t turn) const;
  // Give all tasks what their representatives have.
  std::vector<Duration> ForAll(std::span<const Duration> of_representatives) const;
  Timeline ForAll(const Timeline& of_representatives) const;
};

// Returns the symmetry with the fewest representatives that is found. There is none if nothing
// repeats, or if something else than their types tells nodes apart (alike_nodes.h). Precondition:
// the schedule was lowered unfolded for the cluster. Cost: linear in tasks, dependencies, devices
// and links.
std::optional<ReplicaSymmetry> FindReplicaSymmetry(const Schedule& schedule,
                                                   const Cluster& cluster);

}  // namespace stagecraft
