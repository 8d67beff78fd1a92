// Times ops on a CPU of this host, for `profile`.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Makes a timer of the device "host" (host_processor.h), which it measures first. Ops are timed
// while the other CPUs, at most 15, run the same op, since in a plan all of them are busy.
// `ordinal` must be 0, since any CPU will do; otherwise throws an InputError, a sentence that
// begins with `place`.
std::unique_ptr<OpTimer> MakeHostOpTimer(int ordinal, const std::string& place);

}  // namespace stagecraft
