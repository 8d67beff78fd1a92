#include "sim/job/history_recorder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stagecraft {
namespace {

bool Continues(const Phase& last, const Phase& next) {
  return last.kind == next.kind && last.step_time == next.step_time &&
         last.working_devices == next.working_devices && last.reason == next.reason;
}

}  // namespace

void HistoryRecorder::Add(Phase phase) {
  Lost(phase.kind) += phase.length;
  if (!keeps_phases_ || phase.length == Duration()) return;
  if (!history_.phases.empty() && Continues(history_.phases.back(), phase)) {
    history_.phases.back().steps += phase.steps;
    history_.phases.back().length += phase.length;
    return;
  }
  history_.phases.push_back(std::move(phase));
}

void HistoryRecorder::CountAsCheckpoint(Duration part) {
  Lost(PhaseKind::kComputing) -= part;
  Lost(PhaseKind::kCheckpoint) += part;
}

void HistoryRecorder::LoseStep(Duration computing, Duration already_lost,
                               const std::string& reason) {
  Lost(PhaseKind::kComputing) -= computing - already_lost;
  Lost(PhaseKind::kRedone) += computing - already_lost;
  for (size_t i = history_.phases.size(); i-- > 0 && computing > Duration();) {
    Phase& phase = history_.phases[i];
    if (phase.kind != PhaseKind::kComputing) continue;
    const Duration part = std::min(phase.length, computing);
    computing -= part;
    Phase lost = phase;
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
}

History HistoryRecorder::Finish(Duration time) {
  RunTotals& totals = history_.totals;
  totals.time = time;
  Duration& slower = Lost(PhaseKind::kComputing);
  slower -= totals.useful;
  // Steps beside an asynchronous checkpoint are rounded to whole nanoseconds.
  if (slower < Duration()) {
    Lost(PhaseKind::kCheckpoint) += slower;
    slower = Duration();
  }
  return std::move(history_);
}

}  // namespace stagecraft
