// The bubble by cause: what every rank's compute lane does of the step, and what it
// waits for while it does not compute.
//
// A lane computes while it runs passes and the optimizer. At every other instant it
// waits, and the chain of what its next task waited for, and that task in turn (after
// its last task: of what the end of the step waited for), says what was under way:
//   host           a launch, on this rank or another
//   communication  a transfer, or a collective before the lane's last pass has ended
//   update         a collective after that, the optimizer of others
//   a pass of another stage:
//     warm-up        before the lane's first backward (before its first pass, where
//                    it has no backward)
//     drain          else, after its last forward (its last pass, where likewise)
//     imbalance      in between
//   imbalance      a pass of another replica of its own stage
// So a pipeline of equal stages, free transfers and no update has only warm-up and
// drain.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/task_waits.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

enum class IdleCause : uint8_t { kWarmUp, kImbalance, kCommunication, kDrain, kUpdate, kHost };
inline constexpr int kIdleCauseCount = 6;
const char* Name(IdleCause cause);

// How a rank spends the step. Everything adds up to the makespan.
struct RankTime {
  int32_t rank = -1;
  Duration compute;                  // of passes
  Duration tensor, context, expert;  // exposed collectives inside of passes
  Duration optimizer;
  std::array<Duration, kIdleCauseCount> idle{};  // by cause

  Duration Busy() const { return compute + tensor + context + expert + optimizer; }
  Duration Idle() const;
  Duration idle_by(IdleCause cause) const { return idle[static_cast<int>(cause)]; }
};

// Ranks of a stage that waited for tasks of one phase of one stage.
struct Wait {
  int16_t stage = -1;
  IdleCause cause = IdleCause::kWarmUp;
  Phase for_phase = Phase::kForward;
  int16_t for_stage = -1;  // -1: no one stage's
  Duration time;           // mean of the stage's devices
};

struct Bubble {
  std::vector<RankTime> ranks;  // one for each compute lane, in order of lanes
  std::vector<Wait> waits;      // the longest first
};

// `costs` as of the simulation; nullptr: passes only compute. Cost: the schedule once,
// and the tasks that ran one after another while a lane was idle, lane by lane: idle
// time over the mean time of a task.
Bubble FindBubble(const Schedule& schedule, const Timeline& timeline, const TaskWaits& waits,
                  const BoundCosts* costs);

}  // namespace stagecraft
