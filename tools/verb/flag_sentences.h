// Parsing by CLI11, with our error sentences in place of its own.
#pragma once

#include "tools/verb/command.h"
#include "tools/verb/flag_help.h"

namespace CLI {
class App;
}

namespace stagecraft {

// Parses `args` with `app`, which has an option for every flag of `page`, in the same order. Throws
// InputError as Flags::Parse() does.
void ParseWords(const HelpPage& page, const Args& args, CLI::App& app);

}  // namespace stagecraft
