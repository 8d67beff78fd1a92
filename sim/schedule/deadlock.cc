#include "sim/schedule/deadlock.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace stagecraft {
namespace {

std::string TaskName(const Schedule& schedule, TaskId task) {
  const Tag& tag = schedule.tag(task);
  if (tag.rank < 0) return fmt::format("task {}", task);
  std::string name = Name(tag.phase);
  if (tag.micro_batch >= 0) name += fmt::format(" of micro-batch {}", tag.micro_batch);
  if (tag.chunk > 0) name += fmt::format(" chunk {}", tag.chunk);
  return name + fmt::format(" on rank {}", tag.rank);
}

// One unfinished task for which `task` waits: a predecessor, or the task ahead of it on one of its
// lanes; -1 if only a stopped lane holds it.
TaskId FindBlocker(const Schedule& schedule, TaskId task, std::span<const int32_t> waits,
                   const std::vector<std::vector<TaskId>>& predecessors) {
  for (const TaskId before : predecessors[task]) {
    if (waits[before] >= 0) return before;
  }
  for (const Lane lane : schedule.lanes(task)) {
    const auto order = schedule.order(lane);
    const auto head =
        std::find_if(order.begin(), order.end(), [&](TaskId other) { return waits[other] >= 0; });
    if (*head != task) return *head;
  }
  return -1;
}

}  // namespace

std::string ExplainDeadlock(const Schedule& schedule, std::span<const int32_t> waits) {
  std::vector<std::vector<TaskId>> predecessors(schedule.task_count());
  TaskId first = -1;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const TaskId next : schedule.successors(task)) predecessors[next].push_back(task);
    if (first < 0 && waits[task] >= 0) first = task;
  }
  std::vector<int> position(schedule.task_count(), -1);
  std::vector<TaskId> path;
  TaskId task = first;
  while (task >= 0 && position[task] < 0) {
    position[task] = static_cast<int>(path.size());
    path.push_back(task);
    task = FindBlocker(schedule, task, waits, predecessors);
  }
  if (task < 0) {
    return "stopped: " + TaskName(schedule, path.back()) +
           " never ends: the rate of one of its lanes stays at 0 or close to 0";
  }
  constexpr size_t kLongestShown = 12;
  std::string text = "deadlock: " + TaskName(schedule, task);
  size_t shown = 0;
  for (size_t i = position[task] + 1; i < path.size(); ++i, ++shown) {
    if (shown == kLongestShown) {
      text += fmt::format(", which waits through {} more tasks", path.size() - i);
      break;
    }
    text += (shown == 0 ? " waits for " : ", which waits for ") + TaskName(schedule, path[i]);
  }
  return text + (shown == 0 ? " waits for itself" : ", which waits for the first");
}

void CheckForDeadlock(const Schedule& schedule) {
  constexpr int32_t kDone = -1;
  const int tasks = schedule.task_count();
  std::vector<int32_t> waits(tasks);
  std::vector<TaskId> ready;
  const auto release = [&](TaskId task) {
    if (--waits[task] == 0) ready.push_back(task);
  };
  for (TaskId task = 0; task < tasks; ++task) {
    waits[task] =
        schedule.predecessor_count(task) + static_cast<int32_t>(schedule.lanes(task).size());
    if (waits[task] == 0) ready.push_back(task);
  }
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const auto order = schedule.order(Lane(lane));
    if (!order.empty()) release(order[0]);
  }
  int done = 0;
  for (; !ready.empty(); ++done) {
    const TaskId task = ready.back();
    ready.pop_back();
    waits[task] = kDone;
    for (const TaskId next : schedule.successors(task)) release(next);
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) release(next);
    }
  }
  if (done != tasks) throw DeadlockError(ExplainDeadlock(schedule, waits));
}

}  // namespace stagecraft
