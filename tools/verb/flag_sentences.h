// Parsing by CLI11, with our sentences in place of its own.
#pragma once

#include "tools/verb/command.h"
#include "tools/verb/flag_help.h"

namespace CLI {
class App;
}

namespace stagecraft {

// `app` has an option for every flag of `page`, in that order. Throws InputError as Flags::Parse().
void ParseWords(const HelpPage& page, const Args& args, CLI::App& app);

}  // namespace stagecraft
