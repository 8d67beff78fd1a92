// History: what happened in a training run, on one clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// What happens during a part of a run.
enum class PhaseKind {
  kComputing,    // Steps are computed for the first time.
  kCheckpoint,   // The run stops for a checkpoint.
  kDetection,    // A failure has happened and is not noticed yet.
  kWaiting,      // The run waits for a repair, a spare node or a link.
  kRestart,      // Processes and communicators start again.
  kReload,       // Devices load a checkpoint, or a copy of the state.
  kRedone,       // Steps are computed again, or are lost before they are complete.
  kRebalancing,  // The run moves to another plan.
};
inline constexpr int kPhaseKinds = 8;
// Returns "computing" or the like.
const char* Name(PhaseKind kind);

// What a history says of the plan that computes steps.
struct RunPlan {
  std::string words;        // "tp 2 x pp 4 x dp 8, 1f1b"
  std::vector<int> layers;  // of each stage, in pipeline order
  friend bool operator==(const RunPlan&, const RunPlan&) = default;
};

struct RunPhase {
  PhaseKind kind = PhaseKind::kComputing;
  int64_t first_step = 0;  // The steps that the run has kept when the phase starts.
  int64_t steps = 0;       // The steps that are completed in it.
  Duration start;
  Duration length;
  Duration step_time;       // The time of each step of kComputing and kRedone; zero for others.
  int working_devices = 0;  // The devices of the plan that are at work, or could be.
  std::string reason;       // It is in words, and may be empty.
  // The plan of kComputing and kRedone, and the idle share of its pipeline; null and 0 for others,
  // or if the step function does not say.
  std::shared_ptr<const RunPlan> plan = nullptr;
  double idle_share = 0;
};

// Whether both are the same plan, or both are null.
bool AreEqual(const RunPlan* one, const RunPlan* other);

// Readers of a history recognise a reason by these words.
// A reason begins with these if the run stops because it has noticed a failure.
inline constexpr std::string_view kAfterReason = "after: ";
// This is the reason if the run stops to let devices join again.
inline constexpr std::string_view kDevicesReturnReason = "devices return";
// A reason ends with these if a checkpoint is written beside the steps.
inline constexpr std::string_view kWritesCheckpointReason = "writes a checkpoint";

// What a run came to. Devices are paid for all the time, whether they work or not, so GPU-hours are
// the time on the clock times the devices of the plan.
struct RunTotals {
  int devices = 0;    // The number of devices of the plan.
  int64_t steps = 0;  // The steps that were completed; if the run stopped, some may be lost again.
  Duration time;      // The time of the run.
  Duration useful;    // What the steps take without failures, on the whole cluster at full speed.
  // The time that was lost by each cause: time = useful + the sum of these. kComputing stands for
  // slower steps, on fewer or slower devices, and is below zero if steps of another plan are faster
  // than those of the plan; what an asynchronous checkpoint slows counts as kCheckpoint.
  std::array<Duration, kPhaseKinds> lost = {};
  int64_t failures = 0;  // The failures that interrupted the run.
  int64_t checkpoints = 0;
  int64_t steps_redone = 0;

  // Returns useful / time; 0 if no time has passed.
  double Goodput() const { return time > Duration() ? useful.seconds() / time.seconds() : 0; }
  Duration Lost(PhaseKind cause) const { return lost[static_cast<int>(cause)]; }
  double GpuHours(Duration part) const { return part.seconds() / 3600 * devices; }
};

struct History {
  std::vector<RunPhase> phases;  // They have no gaps, and those that follow each other differ.
  RunTotals totals;
  // Why the run ended before its last step, in a sentence; empty if it did not.
  std::string stopped = {};
};

}  // namespace stagecraft
