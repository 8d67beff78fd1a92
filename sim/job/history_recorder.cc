#include "sim/job/history_recorder.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stagecraft {
namespace {

bool Continues(const RunPhase& last, const RunPhase& next) {
  return last.kind == next.kind && last.step_time == next.step_time &&
         last.working_devices == next.working_devices && last.reason == next.reason &&
         last.idle_share == next.idle_share && AreEqual(last.plan.get(), next.plan.get());
}

}  // namespace

void HistoryRecorder::Add(RunPhase phase) {
  Lost(phase.kind) += phase.length;
  if (!keeps_phases_ || phase.length == Duration()) return;
  if (!history_.phases.empty() && Continues(history_.phases.back(), phase)) {
    history_.phases.back().steps += phase.steps;
    history_.phases.back().length += phase.length;
    return;
  }
  history_.phases.push_back(std::move(phase));
}

void HistoryRecorder::CountAsCheckpoint(Duration part, Duration rounding) {
  Lost(PhaseKind::kComputing) -= part;
  Lost(PhaseKind::kCheckpoint) += part;
  rounding_ += rounding;
}

void HistoryRecorder::LoseStep(Duration computing, Duration already_lost,
                               const std::string& reason) {
  Lost(PhaseKind::kComputing) -= computing - already_lost;
  Lost(PhaseKind::kRedone) += computing - already_lost;
  size_t first = history_.phases.size();
  for (size_t i = first; i-- > 0 && computing > Duration();) {
    first = i;
    RunPhase& phase = history_.phases[i];
    if (phase.kind != PhaseKind::kComputing) continue;
    const Duration part = std::min(phase.length, computing);
    computing -= part;
    RunPhase lost = phase;
    lost.kind = PhaseKind::kRedone;
    lost.first_step += lost.steps;
    lost.steps = 0;
    lost.start += lost.length - part;
    lost.length = part;
    lost.reason = reason;
    phase.length -= part;
    if (phase.length == Duration()) {
      phase = std::move(lost);
    } else {
      history_.phases.insert(history_.phases.begin() + static_cast<ptrdiff_t>(i) + 1,
                             std::move(lost));
    }
  }
  JoinEqualPhases(first);
}

// Joins phases that follow each other and do not differ, from the one before `first` on.
void HistoryRecorder::JoinEqualPhases(size_t first) {
  std::vector<RunPhase>& phases = history_.phases;
  if (phases.empty()) return;
  size_t last = first > 0 ? first - 1 : 0;
  for (size_t i = last + 1; i < phases.size(); ++i) {
    if (Continues(phases[last], phases[i])) {
      phases[last].steps += phases[i].steps;
      phases[last].length += phases[i].length;
    } else if (++last != i) {
      phases[last] = std::move(phases[i]);
    }
  }
  phases.resize(last + 1);
}

History HistoryRecorder::Finish(Duration time) {
  RunTotals& totals = history_.totals;
  totals.time = time;
  Duration& slower = Lost(PhaseKind::kComputing);
  slower -= totals.useful;
  if (slower < Duration() && slower + rounding_ >= Duration()) {
    Lost(PhaseKind::kCheckpoint) += slower;
    slower = Duration();
  }
  return std::move(history_);
}

}  // namespace stagecraft
