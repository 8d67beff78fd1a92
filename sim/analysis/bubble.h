// Bubble: idle time by cause, namely what the compute lane of every rank does during the step, and
// what it waits for while it does not compute.
//
// A lane computes while it runs passes and the optimizer. At every other instant it waits. The
// chain of what its next task waited for, and what that task waited for in turn (after the last
// task of the lane: what the end of the step waited for), says what was running at that instant:
//   host           a launch, on this rank or another
//   communication  a transfer, or a collective before the lane's last pass has ended
//   update         a collective after that, or the optimizer of other ranks
//   a pass of another stage:
//     warm-up        before the lane's first backward (before its first pass, if it
//                    has no backward)
//     drain          otherwise, after its last forward (its last pass, if it has no backward)
//     imbalance      in between
//   imbalance      a pass of another replica of its own stage
// So a pipeline of equal stages with free transfers and no update has only warm-up and drain.
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

// How a rank spends the step. All parts add up to the makespan.
struct RankTime {
  int32_t rank = -1;
  Duration compute;  // of passes
  // These are exposed: collectives inside of passes, and exchanges between experts beside passes.
  Duration tensor, context, expert;
  Duration optimizer;
  std::array<Duration, kIdleCauseCount> idle{};  // by cause

  Duration Busy() const { return compute + tensor + context + expert + optimizer; }
  Duration Idle() const;
  Duration idle_by(IdleCause cause) const { return idle[static_cast<int>(cause)]; }
};

// How long ranks of a stage waited for tasks of one phase of one stage.
struct Wait {
  int16_t stage = -1;
  IdleCause cause = IdleCause::kWarmUp;
  Phase for_phase = Phase::kForward;
  int16_t for_stage = -1;  // -1: no particular stage
  Duration time;           // mean over the devices of the stage
};

struct Bubble {
  std::vector<RankTime> ranks;  // one for each compute lane, in order of lanes
  std::vector<Wait> waits;      // the longest first
};

// `costs` are those of the simulation; with nullptr, passes do nothing but compute. The cost is one
// walk over the schedule and, lane by lane, one over the tasks that ran while the lane was idle;
// their number is about its idle time over the mean time of a task.
Bubble FindBubble(const Schedule& schedule, const Timeline& timeline, const TaskWaits& waits,
                  const BoundCosts* costs);

}  // namespace stagecraft
