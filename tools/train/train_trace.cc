#include "tools/train/train_trace.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "sim/job/history.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

constexpr const char* kKeys[] = {"first_step", "steps",  "step_time_ns",
                                 "devices",    "reason", "plan"};
enum Key : int16_t { kFirstStep, kSteps, kStepTime, kDevices, kReason, kPlan };

// Phases of no length are left out: viewers cannot show them.
bool IsShown(const RunPhase& phase) { return phase.length > Duration(); }

class HistoryTrace {
 public:
  explicit HistoryTrace(std::string title) {
    view_.tracks.emplace_back().name = std::move(title);
    for (int kind = 0; kind < kPhaseKinds; ++kind) {
      view_.names.emplace_back(Name(static_cast<PhaseKind>(kind)));
    }
    view_.categories = {"phase"};
    view_.keys.assign(std::begin(kKeys), std::end(kKeys));
  }

  void AddPhases(const History& history) {
    TraceTrack track;
    track.kind = TraceTrack::Kind::kSlices;
    track.name = "phases";
    for (const RunPhase& phase : history.phases) {
      if (IsShown(phase)) AddPhase(phase);
    }
    track.end = std::ssize(view_.slices);
    AddTrack(std::move(track));
  }

  // `value` is a function of a phase.
  template <typename Value>
  void AddCounter(const char* name, TraceTrack::Unit unit, const History& history,
                  const Value& value) {
    TraceTrack track;
    track.kind = TraceTrack::Kind::kCounter;
    track.unit = unit;
    track.name = name;
    track.begin = std::ssize(view_.points);
    for (const RunPhase& phase : history.phases) {
      if (!IsShown(phase)) continue;
      const int64_t now = value(phase);
      const bool is_first = std::ssize(view_.points) == track.begin;
      if (is_first || view_.points.back().value != now) view_.points.push_back({phase.start, now});
    }
    track.end = std::ssize(view_.points);
    AddTrack(std::move(track));
  }

  void AddFact(std::string key, std::string value) {
    view_.facts.emplace_back(std::move(key), std::move(value));
  }

  TraceView Take() { return std::move(view_); }

 private:
  // All tracks are below the root.
  void AddTrack(TraceTrack track) {
    track.parent = 0;
    track.order = static_cast<int32_t>(view_.tracks.size()) - 1;
    view_.tracks.push_back(std::move(track));
  }

  void AddPhase(const RunPhase& phase) {
    TraceSlice slice;
    slice.track = 1;
    slice.name = static_cast<int16_t>(phase.kind);
    slice.start = phase.start;
    slice.end = phase.start + phase.length;
    slice.arguments_begin = std::ssize(view_.arguments);
    AddArgument(kFirstStep, phase.first_step);
    AddArgument(kSteps, phase.steps);
    if (phase.step_time > Duration()) AddArgument(kStepTime, phase.step_time.ns());
    AddArgument(kDevices, phase.working_devices);
    if (!phase.reason.empty()) AddArgument(kReason, TextOf(phase.reason), true);
    if (phase.plan != nullptr) AddArgument(kPlan, TextOf(phase.plan->words), true);
    slice.arguments_end = std::ssize(view_.arguments);
    view_.slices.push_back(slice);
  }

  void AddArgument(Key key, int64_t value, bool is_text = false) {
    view_.arguments.push_back({value, key, is_text});
  }

  int64_t TextOf(const std::string& reason) {
    const auto [known, is_new] = texts_.try_emplace(reason, std::ssize(view_.texts));
    if (is_new) view_.texts.push_back(reason);
    return known->second;
  }

  TraceView view_;
  std::map<std::string, int64_t> texts_;
};

}  // namespace

TraceView TrainTrace(const PlannedJob& job, const TrainRequest& request,
                     const TrainAnswer& answer) {
  const History& history = *answer.history;
  HistoryTrace trace(fmt::format("training {} on {}", job.workload.name, job.cluster.name()));
  trace.AddFact("tool", "stagecraft");
  trace.AddFact("version", kToolVersion);
  trace.AddFact("seed", std::to_string(request.seed));
  if (!history.stopped.empty()) trace.AddFact("stopped", history.stopped);
  trace.AddPhases(history);
  using Unit = TraceTrack::Unit;
  trace.AddCounter("step time", Unit::kNanoseconds, history,
                   [](const RunPhase& phase) { return phase.step_time.ns(); });
  trace.AddCounter("idle share, per mille", Unit::kCount, history, [&](const RunPhase& phase) {
    if (phase.step_time == Duration()) return int64_t{1000};
    return int64_t{std::llround(1000 * phase.idle_share)};
  });
  trace.AddCounter("devices at work", Unit::kCount, history, [](const RunPhase& phase) {
    return phase.step_time == Duration() ? int64_t{0} : int64_t{phase.working_devices};
  });
  return trace.Take();
}

}  // namespace stagecraft
