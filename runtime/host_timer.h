// Times ops on a processor of this host, for `profile`.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// The device "host" (host_processor.h), measured first. Ops are timed while the other
// processors, 15 at most, run the same: those of a plan are all at work. `ordinal` is 0: throws
// InputError, a sentence that begins with `place`, for another, since any processor will do.
std::unique_ptr<OpTimer> MakeHostOpTimer(int ordinal, const std::string& place);

}  // namespace stagecraft
