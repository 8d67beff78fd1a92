// OverlapSlowDown: how much longer passes take while other lanes of their device (messages,
// reductions, copies to the host) are busy, as a timeline shows it.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// A pass runs beside others if other lanes are busy for at least half of its time, and alone if
// they are for less than a tenth. Passes of one kind are compared if some of them run beside others
// and some alone.
struct OverlapSlowDown {
  int64_t beside = 0, alone = 0;  // passes that are compared, once for each rank they run on
  int64_t unmatched = 0;          // passes beside others of a kind of which none runs alone
  // The time of passes beside others over what they would take alone. No value if none are
  // compared.
  std::optional<double> ratio;
};

// Passes of one op sequence on one rank are of one kind; the reference is the mean time of those
// that run alone.
OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& timeline);

// For schedules in which no op sequence runs both alone and beside others, as is the case with
// those beside gradient reductions. All passes of one phase on one rank are of one kind: those
// beside others, if they ran alone, would have the same ratio of measured to predicted time as
// those alone. If the prediction already contains a slow-down, the result is what it leaves out.
OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& measured,
                                    const Timeline& predicted);

}  // namespace stagecraft
