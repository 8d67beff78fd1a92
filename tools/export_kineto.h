// `export kineto`, which takes a timeline in place of a plan.
#pragma once

#include <iosfwd>

#include "tools/verb/command.h"

namespace stagecraft {

// `args` are the words after "kineto". Returns the exit code; throws InputError.
int RunExportKineto(const Args& args, std::ostream& out);

}  // namespace stagecraft
