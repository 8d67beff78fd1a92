#include "sim/analysis/bubble.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/analysis/exposed_ops.h"

namespace stagecraft {
namespace {

bool IsSend(Phase phase) {
  return phase == Phase::kSendForward || phase == Phase::kSendBackward ||
         phase == Phase::kContext || phase == Phase::kOffload || phase == Phase::kFetch ||
         phase == Phase::kVocabularyExchange;
}

// When the phases of a pipeline begin and end, as one lane sees them.
struct LaneSpan {
  int16_t stage = -1;
  Duration warm_up_end, drain_begin, last_pass_end;
};

class BubbleFinder {
 public:
  BubbleFinder(const Schedule& schedule, const Timeline& timeline, const TaskWaits& waits,
               const BoundCosts* costs)
      : schedule_(schedule), timeline_(timeline), waits_(waits), costs_(costs) {
    if (costs == nullptr) return;
    for (const auto& estimates : costs->estimates) {
      auto& op_sequences = collectives_.emplace_back();
      for (OpSequenceId op_sequence = 0; op_sequence < schedule.op_sequence_count();
           ++op_sequence) {
        op_sequences.push_back(ExposedCollectives(schedule, op_sequence, estimates));
      }
    }
  }

  Bubble Run() {
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      if (info.kind == LaneKind::kCompute && info.rank >= 0) WalkLane(Lane(lane), info.rank);
    }
    SumUpWaits();
    return std::move(bubble_);
  }

 private:
  using WaitKey = std::tuple<int16_t, IdleCause, Phase, int16_t>;

  void WalkLane(Lane lane, int32_t rank) {
    bubble_.ranks.emplace_back().rank = rank;
    span_ = SpanOf(lane, rank);
    Duration now;
    for (const TaskId task : schedule_.order(lane)) {
      AddWait(task, now, timeline_.start(task));
      now = timeline_.end(task);
      const Phase phase = schedule_.tag(task).phase;
      if (IsPass(phase) || phase == Phase::kOptimizer) {
        AddBusy(task, phase);
      } else {
        AddWait(task, timeline_.start(task), now);
      }
    }
    AddWait(waits_.last(), now, timeline_.makespan());
  }

  LaneSpan SpanOf(Lane lane, int32_t rank) const {
    LaneSpan span;
    span.stage = schedule_.ranks()[rank].stage;
    bool has_pass = false, has_backward = false;
    for (const TaskId task : schedule_.order(lane)) {
      const Phase phase = schedule_.tag(task).phase;
      if (!IsPass(phase)) continue;
      const bool is_forward = phase == Phase::kForward;
      if (!has_pass || (!is_forward && !has_backward)) span.warm_up_end = timeline_.start(task);
      has_pass = true;
      has_backward = has_backward || !is_forward;
      span.last_pass_end = timeline_.end(task);
      if (is_forward) span.drain_begin = timeline_.end(task);
    }
    return span;
  }

  // Adds a wait of the lane, which is due to `task` or to what that task waits for.
  void AddWait(TaskId task, Duration from, Duration to) {
    if (to <= from) return;
    RankTime& time = bubble_.ranks.back();
    const int64_t devices = schedule_.ranks()[time.rank].multiplicity;
    waits_.WalkBack(
        task, from, to, [&](TaskId by, Duration begin, Duration end, Activity activity) {
          const Tag& tag = schedule_.tag(by);
          if (tag.phase == Phase::kExpertExchange && activity != Activity::kLaunch) {
            time.expert += end - begin;
            return;
          }
          const IdleCause cause = CauseOf(tag, from, activity);
          time.idle[static_cast<int>(cause)] += end - begin;
          wait_time_[{span_.stage, cause, tag.phase, tag.stage}] += devices * (end - begin);
        });
  }

  // Returns the cause of a wait that began at `from`.
  IdleCause CauseOf(const Tag& tag, Duration from, Activity activity) const {
    if (activity == Activity::kLaunch) return IdleCause::kHost;
    if (IsSend(tag.phase)) return IdleCause::kCommunication;
    if (!IsPass(tag.phase)) {
      const bool is_update = from >= span_.last_pass_end || tag.phase == Phase::kOptimizer;
      return is_update ? IdleCause::kUpdate : IdleCause::kCommunication;
    }
    if (tag.stage == span_.stage) return IdleCause::kImbalance;
    if (from < span_.warm_up_end) return IdleCause::kWarmUp;
    return from >= span_.drain_begin ? IdleCause::kDrain : IdleCause::kImbalance;
  }

  void AddBusy(TaskId task, Phase phase) {
    RankTime& time = bubble_.ranks.back();
    const Duration launch = waits_.LaunchTime(task);
    time.idle[static_cast<int>(IdleCause::kHost)] += launch;
    Duration rest = timeline_.end(task) - timeline_.start(task) - launch;
    if (phase == Phase::kOptimizer) {
      time.optimizer += rest;
      return;
    }
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    if (costs_ != nullptr && op_sequence >= 0) {
      const CollectiveTime& inside = collectives_[costs_->device_of_rank[time.rank]][op_sequence];
      time.tensor += inside.tensor;
      time.context += inside.context;
      time.expert += inside.expert;
      rest -= inside.tensor + inside.context + inside.expert;
    }
    time.compute += rest;
  }

  void SumUpWaits() {
    std::map<int16_t, int64_t> devices;
    for (const RankTime& time : bubble_.ranks) {
      const RankInfo& rank = schedule_.ranks()[time.rank];
      devices[rank.stage] += rank.multiplicity;
    }
    for (const auto& [key, time] : wait_time_) {
      Wait wait;
      std::tie(wait.stage, wait.cause, wait.for_phase, wait.for_stage) = key;
      wait.time = Duration::Nanoseconds(time.ns() / devices[wait.stage]);
      bubble_.waits.push_back(wait);
    }
    std::stable_sort(bubble_.waits.begin(), bubble_.waits.end(),
                     [](const Wait& a, const Wait& b) { return a.time > b.time; });
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const TaskWaits& waits_;
  const BoundCosts* costs_;
  std::vector<std::vector<CollectiveTime>> collectives_;  // by device, then op sequence
  LaneSpan span_;                                         // of the lane at hand
  std::map<WaitKey, Duration> wait_time_;                 // of all devices
  Bubble bubble_;
};

}  // namespace

const char* Name(IdleCause cause) {
  constexpr const char* kNames[] = {"warm-up", "imbalance", "communication",
                                    "drain",   "update",    "host"};
  return kNames[static_cast<int>(cause)];
}

Duration RankTime::Idle() const {
  Duration sum;
  for (const Duration time : idle) sum += time;
  return sum;
}

Bubble FindBubble(const Schedule& schedule, const Timeline& timeline, const TaskWaits& waits,
                  const BoundCosts* costs) {
  return BubbleFinder(schedule, timeline, waits, costs).Run();
}

}  // namespace stagecraft
