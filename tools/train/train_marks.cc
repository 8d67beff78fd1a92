#include "tools/train/train_marks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace stagecraft {
namespace {

using Kind = RunMark::Kind;
using What = ClusterEvent::What;

constexpr int64_t kMostCheckpoints = 24;  // that are marked

bool Computes(const RunPhase& phase) { return phase.step_time > Duration(); }

bool Writes(const RunPhase& phase) { return phase.reason.ends_with(kWritesCheckpointReason); }

// What a computing phase says of the cluster; "" if all its parts work at full speed.
std::string ImpairmentOf(const RunPhase& phase) {
  std::string_view reason = phase.reason;
  if (Writes(phase)) {
    reason.remove_suffix(kWritesCheckpointReason.size());
    if (reason.ends_with(", ")) reason.remove_suffix(2);
  }
  return std::string(reason);
}

Kind KindOf(What what) {
  switch (what) {
    case What::kFail:
      return Kind::kFailure;
    case What::kSlow:
      return Kind::kSlower;
    case What::kRecover:
    case What::kJoin:
    case What::kLeave:
      break;
  }
  return Kind::kReturn;
}

// Reads the phases one after the other.
class PhaseReader {
 public:
  explicit PhaseReader(RunMarks* marks) : marks_(marks) {}

  void Read(const RunPhase& phase) {
    if (Computes(phase)) {
      ReadSteps(phase);
    } else if (phase.kind == PhaseKind::kRebalancing) {
      if (last_.kind != phase.kind || last_.reason != phase.reason) {
        Add(phase, Kind::kRebalancing, phase.reason);
      }
    } else if (phase.kind == PhaseKind::kCheckpoint) {
      if (last_.kind != phase.kind) ReadCheckpoint(phase);
    } else {
      ReadStop(phase);
    }
    last_ = phase;
  }

  // Marks the checkpoints, unless there are too many.
  void Finish() {
    if (std::ssize(checkpoints_) > kMostCheckpoints) {
      marks_->checkpoints_not_marked = std::ssize(checkpoints_);
      return;
    }
    for (RunMark& mark : checkpoints_) marks_->marks.push_back(std::move(mark));
  }

 private:
  void Add(const RunPhase& phase, Kind kind, std::string text) {
    marks_->marks.push_back({phase.start, kind, std::move(text)});
  }

  void ReadCheckpoint(const RunPhase& phase) {
    checkpoints_.push_back({phase.start, Kind::kCheckpoint,
                            fmt::format("a checkpoint after step {}", phase.first_step)});
  }

  void ReadSteps(const RunPhase& phase) {
    if (is_interrupted_) {
      Add(phase, Kind::kGoesOn, fmt::format("steps run again, from step {}", phase.first_step));
    }
    is_interrupted_ = false;
    if (Writes(phase) && !Writes(last_)) ReadCheckpoint(phase);
    if (phase.kind != PhaseKind::kComputing) return;  // Its reason is why the steps were lost.
    std::string impairment = ImpairmentOf(phase);
    if (impairment == impairment_) return;
    const std::string steps = fmt::format("steps from {} on run with ", phase.first_step);
    if (impairment.empty()) {
      Add(phase, Kind::kReturn, steps + "all parts at full speed");
    } else {
      Add(phase, Kind::kSlower, steps + impairment);
    }
    impairment_ = std::move(impairment);
  }

  // A phase in which nothing is computed because of a failure, or because devices return.
  void ReadStop(const RunPhase& phase) {
    const bool is_after = phase.reason.starts_with(kAfterReason);
    const std::string cause = phase.reason.substr(is_after ? kAfterReason.size() : 0);
    const bool is_detection = phase.kind == PhaseKind::kDetection;
    const bool was_detected = last_.kind == PhaseKind::kDetection && last_.reason == cause;
    if (is_interrupted_ && phase.reason == kDevicesReturnReason) return;
    if (is_interrupted_ && !(is_detection && !was_detected) && !(is_after && cause != cause_)) {
      return;
    }
    const Kind kind = phase.reason == kDevicesReturnReason ? Kind::kReturn : Kind::kFailure;
    Add(phase, kind, kind == Kind::kReturn ? "restarts, since devices return" : cause);
    is_interrupted_ = true;
    cause_ = cause;
  }

  RunMarks* marks_;
  std::vector<RunMark> checkpoints_;
  RunPhase last_;
  bool is_interrupted_ = false;
  std::string cause_;  // of the interruption
  std::string impairment_;
};

// Adds an event unless a mark tells it already.
void AddEvent(Duration at, Kind kind, const std::string& text, const History& history,
              std::vector<RunMark>* marks) {
  if (at > history.totals.time) return;
  const bool is_told = std::any_of(marks->begin(), marks->end(), [&](const RunMark& mark) {
    return mark.at == at && mark.kind == Kind::kFailure && mark.text == text;
  });
  if (!is_told) marks->push_back({at, kind, text});
}

void AddEvents(const std::vector<ClusterEvent>& events, const History& history,
               const Cluster& cluster, std::vector<RunMark>* marks) {
  for (const ClusterEvent& event : events) {
    std::optional<Duration> at = event.at;
    if (event.at_step == 0) at = Duration();
    if (event.at_step > 0) at = WhenCompleted(history, event.at_step);
    if (!at) continue;
    if (event.what == What::kLeave && event.notice > Duration()) {
      AddEvent(*at, Kind::kReturn,
               fmt::format("{} is announced to leave in {:g} s", NameOf(event.target, cluster),
                           event.notice.seconds()),
               history, marks);
      *at += event.notice;
    }
    AddEvent(*at, KindOf(event.what), Describe(event, cluster), history, marks);
  }
}

}  // namespace

const char* Name(RunMark::Kind kind) {
  switch (kind) {
    case Kind::kFailure:
      return "failure";
    case Kind::kGoesOn:
      return "goes on";
    case Kind::kSlower:
      return "slow or missing parts";
    case Kind::kReturn:
      return "parts return, join or leave";
    case Kind::kNetwork:
      return "the network changes";
    case Kind::kRebalancing:
      return "rebalancing";
    case Kind::kCheckpoint:
      break;
  }
  return "checkpoint";
}

std::optional<Duration> WhenCompleted(const History& history, int64_t steps) {
  for (const RunPhase& phase : history.phases) {
    const int64_t done = steps - phase.first_step;
    if (phase.kind != PhaseKind::kComputing || done <= 0 || done > phase.steps) continue;
    return phase.start + std::min(phase.length, done * phase.step_time);
  }
  return std::nullopt;
}

RunMarks MarksOf(const History& history, const std::vector<TrainedState>& states,
                 const std::vector<ClusterEvent>& events, const Cluster& cluster) {
  RunMarks found;
  PhaseReader reader(&found);
  for (const RunPhase& phase : history.phases) {
    if (phase.length > Duration()) reader.Read(phase);
  }
  reader.Finish();
  for (const TrainedState& state : states) {
    if (state.step == 0) continue;
    if (const auto at = WhenCompleted(history, state.step)) {
      found.marks.push_back(
          {*at, Kind::kNetwork, fmt::format("step {}: {}", state.step, state.change)});
    }
  }
  AddEvents(events, history, cluster, &found.marks);
  std::stable_sort(found.marks.begin(), found.marks.end(), [](const RunMark& a, const RunMark& b) {
    return std::pair(a.at, a.kind) < std::pair(b.at, b.kind);
  });
  return found;
}

}  // namespace stagecraft
