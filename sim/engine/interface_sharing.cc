#include "sim/engine/interface_sharing.h"

#include <algorithm>
#include <array>
#include <utility>

#include "costmodel/collective_method.h"

namespace stagecraft {
namespace {

// Describes a task that leaves its node, on one rank.
struct Sending {
  TaskId task = -1;
  Duration start, end;
  double share = 0;  // of its time in which it keeps the interfaces busy
};
using Sendings = std::vector<Sending>;  // one after another

constexpr Duration kUnknown = Duration::Nanoseconds(-1);

constexpr std::array kLanes = {LaneKind::kSendNext, LaneKind::kSendPrevious, LaneKind::kData,
                               LaneKind::kVocabulary, LaneKind::kExpert};

class Sharing {
 public:
  Sharing(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs)
      : schedule_(schedule),
        timeline_(timeline),
        costs_(costs),
        busy_(costs.estimates.size() * schedule.op_sequence_count(), kUnknown) {}

  // Returns the extra time by task; the result is empty if there is none.
  std::vector<Duration> Run() {
    std::vector<std::array<Sendings, kLanes.size()>> by_rank(schedule_.ranks().size());
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      const auto kind = std::find(kLanes.begin(), kLanes.end(), info.kind);
      if (info.rank < 0 || kind == kLanes.end()) continue;
      Sendings& sendings = by_rank[info.rank][kind - kLanes.begin()];
      for (const TaskId task : schedule_.order(Lane(lane))) AddSending(task, &sendings);
    }
    for (const auto& lanes : by_rank) {
      for (size_t a = 0; a < lanes.size(); ++a) {
        for (size_t b = a + 1; b < lanes.size(); ++b) Meet(lanes[a], lanes[b]);
      }
      EndRank();
    }
    return std::move(extra_);
  }

 private:
  // Returns how long all ops of a task keep the interfaces busy. Tasks of one op sequence on
  // devices of one type are alike.
  Duration BusyTime(TaskId task) {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    const int32_t rank = schedule_.lane_infos()[Index(schedule_.lanes(task)[0])].rank;
    const int device = costs_.device_of_rank[rank];
    Duration& busy = busy_[device * schedule_.op_sequence_count() + op_sequence];
    if (busy != kUnknown) return busy;
    busy = Duration();
    for (const OpId op : schedule_.ops(op_sequence)) {
      busy += InterfaceTime(OverSlowLinks(schedule_.op(op)),
                            costs_.MethodOf(schedule_, task, op).algorithm);
    }
    return busy;
  }

  void AddSending(TaskId task, Sendings* sendings) {
    if (schedule_.op_sequence(task) < 0) return;
    const Duration busy = BusyTime(task);
    if (busy == Duration()) return;
    const Duration start = timeline_.start(task);
    const Duration end = timeline_.end(task);
    if (end == start) return;
    sendings->push_back(
        {task, start, end, std::min(1.0, busy.seconds() / (end - start).seconds())});
  }

  void Meet(const Sendings& a, const Sendings& b) {
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      const double excess = a[i].share + b[j].share - 1;
      const Duration beside = std::min(a[i].end, b[j].end) - std::max(a[i].start, b[j].start);
      if (beside > Duration() && excess > 0) {
        const Duration lost = Duration::Seconds(excess * beside.seconds());
        for (const TaskId task : {a[i].task, b[j].task}) Lose(task, lost);
      }
      ++(a[i].end < b[j].end ? i : j);
    }
  }

  void Lose(TaskId task, Duration time) {
    if (of_rank_.empty()) of_rank_.resize(schedule_.task_count());
    if (of_rank_[task] == Duration()) losers_.push_back(task);
    of_rank_[task] += time;
  }

  // A task on several ranks loses as much as on the rank that loses most.
  void EndRank() {
    for (const TaskId task : losers_) {
      extra_.resize(schedule_.task_count());
      extra_[task] = std::max(extra_[task], std::exchange(of_rank_[task], Duration()));
    }
    losers_.clear();
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  std::vector<Duration> busy_;  // by distinct device and op sequence
  std::vector<Duration> extra_;
  std::vector<Duration> of_rank_;  // by task: what it loses on the rank at hand
  std::vector<TaskId> losers_;     // tasks that lose something there
};

}  // namespace

std::vector<Duration> ShareInterfaces(const Schedule& schedule, const Timeline& timeline,
                                      const BoundCosts& costs,
                                      std::span<const Duration> durations) {
  std::vector<Duration> shared = Sharing(schedule, timeline, costs).Run();
  for (size_t task = 0; task < shared.size(); ++task) shared[task] += durations[task];
  return shared;
}

}  // namespace stagecraft
