// HistoryRecorder: adds up what happens in a run, and lists it if that is wanted.
#pragma once

#include <cstdint>
#include <string>

#include "costmodel/units.h"
#include "sim/job/history.h"

namespace stagecraft {

class HistoryRecorder {
 public:
  // `devices`: of the plan. Without phases a history is only its totals.
  HistoryRecorder(int devices, bool keeps_phases) : keeps_phases_(keeps_phases) {
    history_.totals.devices = devices;
  }
  bool keeps_phases() const { return keeps_phases_; }
  RunTotals& totals() { return history_.totals; }

  // `phase` follows the last one; a part of a phase of which more follows may be added by itself.
  void Add(Phase phase);
  // Counts a part of the computing time that was added as lost to asynchronous checkpoints.
  void CountAsCheckpoint(Duration part);
  // The last `computing` of the time in which steps were computed is lost; `already_lost` of it
  // was counted as checkpoint.
  void LoseStep(Duration computing, Duration already_lost, const std::string& reason);

  // Precondition: steps and useful time of the totals are set.
  History Finish(Duration time);

 private:
  Duration& Lost(PhaseKind kind) { return history_.totals.lost[static_cast<int>(kind)]; }

  bool keeps_phases_;
  History history_;
};

}  // namespace stagecraft
