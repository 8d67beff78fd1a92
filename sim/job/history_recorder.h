// HistoryRecorder: adds up what happens in a run, and lists it if that is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "costmodel/units.h"
#include "sim/job/history.h"

namespace stagecraft {

class HistoryRecorder {
 public:
  // The plan has so many `devices`. Without phases a history is only its totals.
  HistoryRecorder(int devices, bool keeps_phases) : keeps_phases_(keeps_phases) {
    history_.totals.devices = devices;
  }
  bool keeps_phases() const { return keeps_phases_; }
  RunTotals& totals() { return history_.totals; }

  // The phase follows the last one; a part of a phase of which more follows may be added by itself.
  void Add(RunPhase phase);
  // Counts a part of the computing time that was added as lost to asynchronous checkpoints. Because
  // times are whole, the part may be too large by up to `rounding`.
  void CountAsCheckpoint(Duration part, Duration rounding);
  // The last `computing` of the time in which steps were computed is lost; `already_lost` of it
  // was counted as checkpoint.
  void LoseStep(Duration computing, Duration already_lost, const std::string& reason);

  // Returns the history of a run that took this time. Precondition: steps and useful time of the
  // totals are set.
  History Finish(Duration time);

 private:
  Duration& Lost(PhaseKind kind) { return history_.totals.lost[static_cast<int>(kind)]; }
  void JoinEqualPhases(size_t first);

  bool keeps_phases_;
  Duration rounding_;  // The sum over all parts that count as checkpoint.
  History history_;
};

}  // namespace stagecraft
