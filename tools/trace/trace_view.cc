#include "tools/trace/trace_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "sim/schedule/task_devices.h"
#include "tools/trace/trace_rows.h"

namespace stagecraft {
namespace {

class ViewBuilder {
 public:
  explicit ViewBuilder(const TraceInput& input)
      : in_(input), schedule_(input.schedule), timeline_(input.timeline) {
    CHECK(timeline_.task_count() == schedule_.task_count());
    CHECK(in_.launches.empty() || std::ssize(in_.launches) == schedule_.task_count());
    if (KnowsOpTimes()) CheckOpTimes(*in_.op_times);
    CHECK(in_.memory.empty() || in_.memory.size() == schedule_.ranks().size());
    CHECK(in_.rank_names.empty() || in_.rank_names.size() == schedule_.ranks().size());
  }

  TraceView Build(std::optional<TraceLevel> level) {
    ChooseLevel(level);
    view_.facts = in_.facts;
    rows_.AddStrings(schedule_);
    AddRanks();
    FindLatestPredecessors();
    slice_of_task_.assign(schedule_.task_count(), -1);
    for (int32_t lane = 0; lane < schedule_.lane_count(); ++lane) AddLane(Lane{lane});
    AddFlows();
    for (size_t rank = 0; rank < in_.memory.size(); ++rank) AddMemory(static_cast<int>(rank));
    return std::move(view_);
  }

  Duration OpsUntil(int64_t most) const {
    if (!KnowsOpTimes()) return Duration();
    std::vector<std::pair<Duration, int64_t>> ops;  // start of a task's slice, number of its ops
    for (int32_t lane = 0; lane < schedule_.lane_count(); ++lane) {
      for (const TaskId task : schedule_.order(Lane{lane})) {
        if (IsShownOn(task, Lane{lane})) {
          ops.emplace_back(timeline_.start(task), std::ssize(OpsOf(task)));
        }
      }
    }
    std::sort(ops.begin(), ops.end());
    int64_t slices = std::ssize(ops);
    Duration until;  // all tasks that start earlier fit
    for (const auto& [start, count] : ops) {
      if (start > until) until = start;
      slices += count;
      if (slices > most) return until;
    }
    return Duration::Max();
  }

 private:
  bool KnowsOpTimes() const { return in_.op_times != nullptr && !in_.op_times->by_device.empty(); }

  void CheckOpTimes(const OpTimes& times) const {
    CHECK(times.device_of_rank.size() == schedule_.ranks().size());
    for (const std::vector<Duration>& by_op : times.by_device) {
      CHECK(by_op.size() == schedule_.distinct_ops().size());
    }
  }

  // The times on a rank, by op; for rank -1 those on the first device.
  const std::vector<Duration>& OpTimesOn(int32_t rank) const {
    return in_.op_times->by_device[rank < 0 ? 0 : in_.op_times->device_of_rank[rank]];
  }

  // Whether `lane` is the task's first on its rank.
  bool IsShownOn(TaskId task, Lane lane) const {
    const auto lanes = schedule_.lanes(task);
    const auto first = std::find_if(lanes.begin(), lanes.end(), [&](Lane other) {
      return RankOf(schedule_, other) == RankOf(schedule_, lane);
    });
    return *first == lane;
  }

  std::span<const OpId> OpsOf(TaskId task) const {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    return op_sequence < 0 ? std::span<const OpId>() : schedule_.ops(op_sequence);
  }

  // Chooses how much is shown.
  void ChooseLevel(std::optional<TraceLevel> level) {
    CHECK(KnowsOpTimes() || level != TraceLevel::kOp);
    if (!level) view_.ops_until = OpsUntil(kMostSlicesWithOps);
    const bool shows_ops = view_.ops_until > Duration();
    view_.level = level.value_or(shows_ops ? TraceLevel::kOp : TraceLevel::kTask);
  }

  void AddRanks() {
    const auto ranks = schedule_.ranks();
    rows_.AddRoot(in_.title, ranks.size());
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const int32_t track = rows_.AddTrack(
          TraceTrack::Kind::kGroup, -1,
          in_.rank_names.empty() ? fmt::format("stage {} rank {}", ranks[rank].stage, rank)
                                 : in_.rank_names[rank]);
      view_.tracks[track].rank = static_cast<int32_t>(rank);
    }
  }

  // Finds what each task waited for: the predecessor that ended last.
  void FindLatestPredecessors() {
    latest_predecessor_.assign(schedule_.task_count(), -1);
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      for (const TaskId next : schedule_.successors(task)) {
        TaskId& latest = latest_predecessor_[next];
        if (latest < 0 || timeline_.end(task) > timeline_.end(latest)) latest = task;
      }
    }
  }

  void AddLane(Lane lane) {
    std::vector<TaskId> shown;
    for (const TaskId task : schedule_.order(lane)) {
      if (IsShownOn(task, lane)) shown.push_back(task);
    }
    if (shown.empty()) return;
    CheckSerial(shown);
    const size_t index = Index(lane);
    const auto infos = schedule_.lane_infos();
    const LaneInfo info = index < infos.size() ? infos[index] : LaneInfo();
    const int32_t track = rows_.AddTrack(
        TraceTrack::Kind::kSlices, info.rank,
        info.rank >= 0 ? std::string(Name(info.kind)) : fmt::format("lane {}", index));
    view_.tracks[track].begin = std::ssize(view_.slices);
    for (const TaskId task : shown) {
      if (lane == schedule_.lanes(task)[0]) slice_of_task_[task] = std::ssize(view_.slices);
      AddTask(track, task);
    }
    view_.tracks[track].end = std::ssize(view_.slices);
    if (info.rank < 0 || info.kind != LaneKind::kCompute) return;
    AddIdle(info.rank, shown);
    if (!in_.launches.empty()) AddHost(info.rank, shown);
  }

  void CheckSerial(const std::vector<TaskId>& tasks) const {
    Duration free_from;
    for (const TaskId task : tasks) {
      if (timeline_.start(task) < free_from) {
        throw InputError(fmt::format(
            "timeline: task {} starts at {} ns, want at or after {} ns, when its lane is free",
            task, timeline_.start(task).ns(), free_from.ns()));
      }
      free_from = timeline_.end(task);
    }
  }

  void AddTask(int32_t track, TaskId task) {
    const Tag& tag = schedule_.tag(task);
    const int phase = static_cast<int>(tag.phase);
    rows_.AddSlice(track, phase, phase, timeline_.start(task), timeline_.end(task));
    rows_.AddArgument(kTaskKey, task);
    if (tag.micro_batch >= 0) rows_.AddArgument(kMicroBatchKey, tag.micro_batch);
    if (tag.chunk >= 0) rows_.AddArgument(kChunkKey, tag.chunk);
    if (tag.stage >= 0) rows_.AddArgument(kStageKey, tag.stage);
    if (tag.segment > 0) rows_.AddArgument(kSegmentKey, tag.segment);
    const auto ops = OpsOf(task);
    if (ops.empty()) return;
    rows_.AddArgument(kOpsKey, std::ssize(ops));
    Bytes sent;
    for (const OpId op : ops) {
      if (IsCollective(schedule_.op(op).kind)) sent += schedule_.op(op).bytes;
    }
    if (sent > Bytes(0)) rows_.AddArgument(kBytesKey, sent.count());
    const bool shows_ops = timeline_.start(task) < view_.ops_until;
    if (view_.level == TraceLevel::kOp && shows_ops) AddOps(track, task);
  }

  // The ops that decide how long an op sequence takes: of ops that run side by side only the
  // longest, since slices of one track must not overlap.
  std::vector<OpId> ShownOps(OpSequenceId op_sequence, const std::vector<Duration>& times) const {
    const auto ops = schedule_.ops(op_sequence);
    const auto flags = schedule_.flags(op_sequence);
    std::vector<OpId> shown;
    bool is_beside = false;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!is_beside) {
        shown.push_back(ops[i]);
      } else if (times[ops[i]] > times[shown.back()]) {
        shown.back() = ops[i];
      }
      is_beside = (flags[i] & kOverlapsNext) != 0;
    }
    return shown;
  }

  void AddOps(int32_t track, TaskId task) {
    const std::vector<Duration>& times = OpTimesOn(view_.tracks[track].rank);
    const std::vector<OpId> ops = ShownOps(schedule_.op_sequence(task), times);
    Duration total;
    for (const OpId op : ops) total += times[op];
    const Duration start = timeline_.start(task);
    const Duration taken = timeline_.end(task) - start;
    // The product of two times needs 128 bits.
    const auto place = [&](Duration before) {
      if (total == taken || total == Duration()) return start + before;
      const __int128 product = static_cast<__int128>(before.ns()) * taken.ns();
      return start + Duration::Nanoseconds(static_cast<int64_t>(product / total.ns()));
    };
    Duration before;
    for (const OpId op : ops) {
      const Duration after = before + times[op];
      const int name = kFirstOpName + static_cast<int>(schedule_.op(op).kind);
      rows_.AddSlice(track, name, kOpCategory, place(before), place(after)).depth = 1;
      rows_.AddArgument(kOpKey, kFirstOpText + op, /*is_text=*/true);
      rows_.AddArgument(kPredictedKey, times[op].ns());
      before = after;
    }
  }

  // Adds the time that `tasks` leave free between zero and the makespan.
  void AddIdle(int32_t rank, const std::vector<TaskId>& tasks) {
    const int32_t track = rows_.AddTrack(TraceTrack::Kind::kSlices, rank, "idle");
    view_.tracks[track].begin = std::ssize(view_.slices);
    Duration free_from;
    for (const TaskId task : tasks) {
      const Duration start = timeline_.start(task);
      if (start > free_from) {
        rows_.AddSlice(track, kBubbleName, kIdleCategory, free_from, start);
        const TaskId cause = latest_predecessor_[task];
        if (cause >= 0 && timeline_.end(cause) > free_from) {
          rows_.AddArgument(kWaitsForKey, static_cast<int>(schedule_.tag(cause).phase), true);
        }
      }
      free_from = timeline_.end(task);
    }
    if (timeline_.makespan() > free_from) {
      rows_.AddSlice(track, kBubbleName, kIdleCategory, free_from, timeline_.makespan());
    }
    view_.tracks[track].end = std::ssize(view_.slices);
  }

  // Adds the launches by which, as the engine assumed, the host starts `tasks`.
  void AddHost(int32_t rank, const std::vector<TaskId>& tasks) {
    const int32_t track = rows_.AddTrack(TraceTrack::Kind::kSlices, rank, "host");
    view_.tracks[track].begin = std::ssize(view_.slices);
    Duration free_from;
    for (const TaskId task : tasks) {
      const Launch& launch = in_.launches[task];
      if (launch.total == Duration()) continue;
      if (launch.waits) free_from = std::max(free_from, timeline_.start(task));
      const int phase = static_cast<int>(schedule_.tag(task).phase);
      rows_.AddSlice(track, phase, kLaunchCategory, free_from, free_from + launch.total);
      rows_.AddArgument(kTaskKey, task);
      free_from += launch.total;
    }
    view_.tracks[track].end = std::ssize(view_.slices);
  }

  void AddFlows() {
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const Phase phase = schedule_.tag(task).phase;
      if (phase != Phase::kSendForward && phase != Phase::kSendBackward) continue;
      const int64_t from = slice_of_task_[task];
      if (from < 0) continue;
      const int32_t rank = view_.tracks[view_.slices[from].track].rank;
      for (const TaskId next : schedule_.successors(task)) {
        const int64_t to = slice_of_task_[next];
        if (to < 0 || view_.tracks[view_.slices[to].track].rank == rank) continue;
        if (view_.slices[from].start <= view_.slices[to].start) view_.flows.push_back({from, to});
      }
    }
  }

  void AddMemory(int rank) {
    if (in_.memory[rank].empty()) return;
    const int32_t track = rows_.AddTrack(TraceTrack::Kind::kCounter, rank, "memory");
    view_.tracks[track].begin = std::ssize(view_.points);
    for (Duration latest; const auto& [time, used] : in_.memory[rank]) {
      CHECK(time >= latest);
      view_.points.push_back({time, used.count()});
      latest = time;
    }
    view_.tracks[track].end = std::ssize(view_.points);
  }

  const TraceInput& in_;
  const Schedule& schedule_;
  const Timeline& timeline_;
  TraceView view_;
  TraceRows rows_{view_};
  std::vector<int64_t> slice_of_task_;  // by task, the slice on its first lane; -1: none
  std::vector<TaskId> latest_predecessor_;
};

}  // namespace

Duration OpsUntil(const TraceInput& input, int64_t most) {
  return ViewBuilder(input).OpsUntil(most);
}

TraceView MakeTraceView(const TraceInput& input, std::optional<TraceLevel> level) {
  return ViewBuilder(input).Build(level);
}

std::string NoteOnKernels(const TraceView& view) {
  if (view.level == TraceLevel::kOp && view.ops_until == Duration::Max()) return "";
  const std::string shown =
      view.level == TraceLevel::kOp
          ? fmt::format("the kernels of passes that begin in its first {:.1f} ms",
                        view.ops_until.ms())
          : "no kernels";
  return fmt::format("the trace shows {}, since it has at most {} slices with them", shown,
                     kMostSlicesWithOps);
}

}  // namespace stagecraft
