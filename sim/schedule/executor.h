// Executor: turns a Schedule into a Timeline, in virtual time or on devices. Everything downstream
// treats the two alike.
#pragma once

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Timeline Execute(const Schedule& schedule) = 0;
};

}  // namespace stagecraft
