// History: what happened in a training run, on one clock.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// What happens during a part of a run.
enum class PhaseKind {
  kComputing,    // steps that are computed for the first time
  kCheckpoint,   // the run stops for a checkpoint
  kDetection,    // a failure has happened and is not noticed yet
  kWaiting,      // for a repair, a spare node or a link
  kRestart,      // of processes and communicators
  kReload,       // of a checkpoint, or of a copy of the state
  kRedone,       // steps that are computed again, or are lost before they are complete
  kRebalancing,  // moving to another plan
};
inline constexpr int kPhaseKinds = 8;
const char* Name(PhaseKind kind);  // "computing"

struct Phase {
  PhaseKind kind = PhaseKind::kComputing;
  int64_t first_step = 0;  // steps that the run has kept when the phase starts
  int64_t steps = 0;       // completed in it
  Duration start;
  Duration length;
  Duration step_time;       // kComputing and kRedone: of each step; zero for others
  int working_devices = 0;  // devices of the plan that are at work, or could be
  std::string reason;       // in words; may be empty
};

// What a run came to. Devices are paid for all the time, whether they work or not, so GPU-hours are
// the time on the clock times the devices of the plan.
struct RunTotals {
  int devices = 0;  // of the plan
  int64_t steps = 0;
  Duration time;    // of the run
  Duration useful;  // the steps without failures, on the whole cluster at full speed
  // Time lost by cause: time = useful + the sum of these. kComputing stands for slower steps, on
  // fewer or slower devices; what an asynchronous checkpoint slows counts as kCheckpoint.
  std::array<Duration, kPhaseKinds> lost = {};
  int64_t failures = 0;  // that interrupted the run
  int64_t checkpoints = 0;
  int64_t steps_redone = 0;

  double Goodput() const { return useful.seconds() / time.seconds(); }
  Duration Lost(PhaseKind cause) const { return lost[static_cast<int>(cause)]; }
  double GpuHours(Duration part) const { return part.seconds() / 3600 * devices; }
};

struct History {
  std::vector<Phase> phases;  // without gaps; phases that follow each other differ
  RunTotals totals;
};

}  // namespace stagecraft
