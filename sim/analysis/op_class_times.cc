#include "sim/analysis/op_class_times.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "costmodel/cost_model.h"
#include "sim/analysis/exposed_ops.h"
#include "sim/schedule/task_devices.h"

namespace stagecraft {
namespace {

constexpr int kSeveral = kOpKindCount;  // in place of a kind: several kinds, in unknown shares

struct Share {
  int kind = 0;
  double share = 1;
};

struct Division {
  std::vector<Share> shares;  // add up to one
  bool is_exact = false;      // holds however long the task takes
};

struct Sum {
  int tasks = 0;
  double predicted_s = 0, measured_s = 0, exact_s = 0;
};

class Divider {
 public:
  Divider(const Schedule& schedule, const OpTimes& times) : schedule_(schedule), times_(times) {
    for (const std::vector<Duration>& by_op : times.by_device) {
      std::vector<Estimate>& estimates = estimates_.emplace_back();
      for (const Duration time : by_op) estimates.push_back({.time = time});
    }
  }

  // Returns how the classes of a task share its time.
  const Division& Of(TaskId task) {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    const int32_t rank = FirstRankOf(schedule_, task);
    const bool is_known = !estimates_.empty() && rank >= 0;
    const int device = is_known ? times_.device_of_rank[rank] : -1;
    const auto [found, is_new] = divisions_.try_emplace({op_sequence, device});
    if (is_new) found->second = Divide(op_sequence, device);
    return found->second;
  }

 private:
  static Division Whole(OpKind kind) { return {{{static_cast<int>(kind)}}, true}; }

  Division Divide(OpSequenceId op_sequence, int device) const {
    if (op_sequence < 0 || schedule_.ops(op_sequence).empty()) return Whole(OpKind::kNone);
    const auto ops = schedule_.ops(op_sequence);
    const OpKind first = schedule_.op(ops.front()).kind;
    if (std::all_of(ops.begin(), ops.end(),
                    [&](OpId op) { return schedule_.op(op).kind == first; })) {
      return Whole(first);
    }
    std::array<double, kOpKindCount> seconds{};
    double all = 0;
    if (device >= 0) {
      ForEachExposed(schedule_, op_sequence, estimates_[device], [&](size_t i, Duration time) {
        seconds[static_cast<int>(schedule_.op(ops[i]).kind)] += time.seconds();
        all += time.seconds();
      });
    }
    if (all == 0) return {{{kSeveral}}};
    Division division;
    for (int kind = 0; kind < kOpKindCount; ++kind) {
      if (seconds[kind] > 0) division.shares.push_back({kind, seconds[kind] / all});
    }
    return division;
  }

  const Schedule& schedule_;
  const OpTimes& times_;
  std::vector<std::vector<Estimate>> estimates_;
  std::map<std::pair<OpSequenceId, int>, Division> divisions_;
};

OpClassTime ToTime(int kind, const Sum& sum) {
  OpClassTime time;
  if (kind != kSeveral) time.kind = static_cast<OpKind>(kind);
  time.tasks = sum.tasks;
  time.time = {Duration::Seconds(sum.predicted_s), Duration::Seconds(sum.measured_s)};
  time.exact = sum.predicted_s > 0 ? sum.exact_s / sum.predicted_s : 0;
  return time;
}

}  // namespace

std::vector<OpClassTime> TimeByOpClass(const TimelineRecord& predicted,
                                       const TimelineRecord& measured) {
  const Schedule& schedule = predicted.schedule;
  const std::vector<int64_t> devices = DevicesByTask(schedule);
  Divider divider(schedule, predicted.op_times);
  std::array<Sum, kOpKindCount + 1> sums;
  const auto length = [](const Timeline& timeline, TaskId task) {
    return (timeline.end(task) - timeline.start(task)).seconds();
  };
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Division& division = divider.Of(task);
    const double predicted_s =
        length(predicted.timeline, task) * static_cast<double>(devices[task]);
    const double measured_s = length(measured.timeline, task) * static_cast<double>(devices[task]);
    for (const auto& [kind, share] : division.shares) {
      Sum& sum = sums[kind];
      ++sum.tasks;
      sum.predicted_s += share * predicted_s;
      sum.measured_s += share * measured_s;
      if (division.is_exact) sum.exact_s += predicted_s;
    }
  }
  std::vector<OpClassTime> times;
  for (int kind = 0; kind <= kOpKindCount; ++kind) {
    if (sums[kind].tasks > 0) times.push_back(ToTime(kind, sums[kind]));
  }
  return times;
}

}  // namespace stagecraft
