#include "tools/run/measured_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using What = LogEntry::What;

std::optional<Duration> TimeOf(const ProcessesLife& life, What what) {
  const auto entry = std::find_if(life.log.begin(), life.log.end(),
                                  [what](const LogEntry& one) { return one.what == what; });
  return entry == life.log.end() ? std::nullopt : std::optional(entry->time);
}

// When the first step can begin.
Duration GoTime(const ProcessesLife& life) {
  const std::optional<Duration> reloaded = TimeOf(life, What::kReloaded);
  return reloaded ? *reloaded : life.started + RestartTime(life);
}

class HistoryMaker {
 public:
  HistoryMaker(Duration begin, int64_t first, int devices)
      : begin_(begin), now_(begin), step_(first), high_(first), devices_(devices) {}

  void AddLife(const ProcessesLife& life) {
    for (const LogEntry& entry : life.log) {
      if (entry.what == What::kStep) CompleteStep(entry);
      if (entry.what == What::kSaved) Save(entry);
      if (entry.what == What::kDying) return Die(entry, life.ended);
    }
  }

  void Restart(const ProcessesLife& life) {
    step_ = life.log.front().step;
    const std::string after = "after: " + reason_;
    Add(PhaseKind::kRestart, 0, life.started + RestartTime(life), after);
    Add(PhaseKind::kReload, 0, GoTime(life), after);
  }

  History Finish() {
    RunTotals& totals = history_.totals;
    totals.devices = devices_;
    totals.steps = high_;
    totals.time = now_ - begin_;
    for (RunPhase& phase : history_.phases) {
      if (phase.steps > 0) {
        phase.step_time = Duration::Nanoseconds(phase.length.ns() / phase.steps);
      }
      if (phase.kind == PhaseKind::kComputing) {
        totals.useful += phase.length;
      } else {
        totals.lost[static_cast<size_t>(phase.kind)] += phase.length;
      }
      if (phase.kind == PhaseKind::kRedone) totals.steps_redone += phase.steps;
    }
    return std::move(history_);
  }

 private:
  // What happens lasts until `end`. Phases of the same kind that follow each other become one.
  void Add(PhaseKind kind, int64_t steps, Duration end, const std::string& reason) {
    if (end <= now_) return;
    std::vector<RunPhase>& phases = history_.phases;
    if (!phases.empty() && phases.back().kind == kind && steps > 0) {
      phases.back().steps += steps;
      phases.back().length += end - now_;
    } else {
      phases.push_back({kind, step_, steps, now_ - begin_, end - now_, {}, devices_, reason});
    }
    now_ = end;
  }

  void CompleteStep(const LogEntry& entry) {
    const int64_t steps = entry.step - step_;
    if (step_ < high_) {
      Add(PhaseKind::kRedone, steps, entry.time, "lost when " + reason_);
    } else {
      Add(PhaseKind::kComputing, steps, entry.time, "");
    }
    step_ = entry.step;
    high_ = std::max(high_, step_);
  }

  void Save(const LogEntry& entry) {
    Add(PhaseKind::kCheckpoint, 0, entry.time, "");
    ++history_.totals.checkpoints;
  }

  void Die(const LogEntry& entry, Duration noticed) {
    reason_ = fmt::format("rank {} was killed", entry.rank);
    if (entry.step > step_) CompleteStep(entry);
    ++history_.totals.failures;
    Add(PhaseKind::kDetection, 0, noticed, reason_);
  }

  const Duration begin_;
  Duration now_;
  int64_t step_;  // complete
  int64_t high_;  // the most that were ever complete
  const int devices_;
  std::string reason_;  // of the last failure
  History history_;
};

}  // namespace

Duration RestartTime(const ProcessesLife& life) {
  const std::optional<Duration> ready = TimeOf(life, What::kReady);
  CHECK(ready.has_value());
  return *ready - life.started;
}

Duration ReloadTime(const ProcessesLife& life) {
  return GoTime(life) - life.started - RestartTime(life);
}

Duration MedianSaveTime(const std::vector<LogEntry>& log) {
  std::vector<Duration> times;
  Duration begin;
  for (const LogEntry& entry : log) {
    if (entry.what == What::kSaving) begin = entry.time;
    if (entry.what == What::kSaved) times.push_back(entry.time - begin);
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

History MeasuredHistory(const std::vector<ProcessesLife>& lives, int devices) {
  CHECK(!lives.empty());
  HistoryMaker maker(GoTime(lives[0]), lives[0].log.front().step, devices);
  maker.AddLife(lives[0]);
  for (size_t i = 1; i < lives.size(); ++i) {
    maker.Restart(lives[i]);
    maker.AddLife(lives[i]);
  }
  return maker.Finish();
}

}  // namespace stagecraft
