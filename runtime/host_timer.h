// Times ops on a CPU of this host, for `profile`.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// The device is "host" (host_processor.h), which is measured first. Ops are timed while the other
// CPUs, at most 15, run the same, since those of a plan are all busy. `ordinal` must be 0, since
// any CPU will do; throws an InputError, a sentence that begins with `place`, for others.
std::unique_ptr<OpTimer> MakeHostOpTimer(int ordinal, const std::string& place);

}  // namespace stagecraft
