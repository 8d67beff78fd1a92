#include "sim/engine/repeated_tasks.h"

#include <algorithm>
#include <span>

#include "costmodel/check.h"
#include "sim/schedule/time_hash.h"

namespace stagecraft {
namespace {

bool IsRepeated(const Repetition::Part& part) { return part.last > part.first; }

// Where the whole step is in a lane's issue order.
struct Cursor {
  int32_t entry = 0;     // of the part that was simulated
  int64_t times = 0;     // how often it still jumps back
  bool is_late = false;  // whether the repetitions are over
  Duration shift;
};

// Walks over the tasks of the whole step in the order of their numbers. Workers add their tasks one
// after another, each pass followed by its messages; what comes later in a lane's issue order has a
// larger number. So the tasks of one repetition are those between two passes of a worker, and their
// lanes say which tasks follow when they come again.
class Walk {
 public:
  Walk(const Schedule& schedule, const Timeline& timeline, const Repetition& repetition)
      : schedule_(schedule),
        timeline_(timeline),
        repetition_(repetition),
        cursors_(schedule.lane_count()) {
    for (int lane = 0; lane < schedule.lane_count(); ++lane) {
      if (IsRepeated(repetition.parts[lane])) cursors_[lane].times = repetition.times;
    }
  }

  uint64_t Fingerprint() {
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const TaskId end = EndOfRepetition(task);
      for (int64_t time = 0; time < repetition_.times && end > task; ++time) {
        for (TaskId other = task; other < end; ++other) Visit(other);
      }
      Visit(task);
    }
    return fingerprint_.value();
  }

 private:
  // If the task is the pass with which the repeated part of a compute lane begins, returns the pass
  // that follows the part; otherwise the task itself.
  TaskId EndOfRepetition(TaskId task) const {
    for (const Lane lane : schedule_.lanes(task)) {
      if (schedule_.lane_infos()[Index(lane)].kind != LaneKind::kCompute) continue;
      const Repetition::Part& part = repetition_.parts[Index(lane)];
      const auto order = schedule_.order(lane);
      const bool begins = IsRepeated(part) && order[part.first] == task;
      return begins ? order[part.last] : task;
    }
    return task;
  }

  // Adds the task that is next on the lanes of this one.
  void Visit(TaskId alike) {
    const std::span<const Lane> lanes = schedule_.lanes(alike);
    for (const Lane lane : lanes) Jump(Index(lane));
    const Cursor& cursor = cursors_[Index(lanes[0])];
    const TaskId task = schedule_.order(lanes[0])[cursor.entry];
    fingerprint_.Add(timeline_.start(task) + cursor.shift);
    fingerprint_.Add(timeline_.end(task) + cursor.shift);
    for (const Lane lane : lanes) ++cursors_[Index(lane)].entry;
  }

  void Jump(int lane) {
    Cursor& cursor = cursors_[lane];
    const Repetition::Part& part = repetition_.parts[lane];
    if (cursor.is_late || cursor.entry != part.last) return;
    if (cursor.times > 0) {
      --cursor.times;
      cursor.entry = part.first;
      cursor.shift += repetition_.period;
    } else {
      cursor.is_late = true;
      cursor.shift = repetition_.Delay();
    }
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const Repetition& repetition_;
  std::vector<Cursor> cursors_;  // by lane
  TimeHash fingerprint_;
};

}  // namespace

RepeatedTasks::RepeatedTasks(const Schedule& schedule, const Repetition& repetition)
    : schedule_(schedule), repetition_(repetition), total_(schedule.task_count()) {
  if (repetition.parts.empty()) return;
  is_repeated_.resize(schedule.task_count());
  int64_t repeated = 0;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const auto order = schedule.order(Lane(lane));
    for (int32_t i = repetition.parts[lane].first; i < repetition.parts[lane].last; ++i) {
      if (is_repeated_[order[i]]) continue;
      is_repeated_[order[i]] = true;
      ++repeated;
    }
  }
  total_ += repetition.times * repeated;
}

bool RepeatedTasks::HasOrder() const {
  if (repetition_.parts.empty()) return true;
  for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
    const LaneKind kind = schedule_.lane_infos()[lane].kind;
    const bool is_of_passes = kind == LaneKind::kCompute || kind == LaneKind::kSendNext ||
                              kind == LaneKind::kSendPrevious;
    if (IsRepeated(repetition_.parts[lane]) && !is_of_passes) return false;
  }
  for (TaskId task = 0; task < schedule_.task_count(); ++task) {
    if (schedule_.lanes(task).empty()) return false;
  }
  return true;
}

uint64_t RepeatedTasks::Fingerprint(const Timeline& timeline) const {
  CHECK(HasOrder());
  if (repetition_.parts.empty()) return timeline.Fingerprint();
  return Walk(schedule_, timeline, repetition_).Fingerprint();
}

}  // namespace stagecraft
