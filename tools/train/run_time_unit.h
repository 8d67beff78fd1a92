// TimeUnit: the unit in which the pages of training runs show times, and the names of lost time.
#pragma once

#include "costmodel/units.h"
#include "sim/job/history.h"

namespace stagecraft {

struct TimeUnit {
  const char* name;    // "hours"
  const char* symbol;  // "h"
  double seconds;
};

// Returns the unit in which times of up to `most` are easy to read.
TimeUnit UnitFor(Duration most);

// Returns what pages call a cause of lost time.
const char* CauseOf(PhaseKind kind);

}  // namespace stagecraft
