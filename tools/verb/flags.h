// Flags: reads a verb's words with CLI11, and says in one sentence what is
// wrong with them.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

// Stores the values of `args` in what the options of `app` are bound to. True
// where --help or -h is among them: the help is then on `out`, nothing is
// stored, and the verb ends with kExitOk. Name the app "stagecraft VERB" and
// put an example in its footer. Throws InputError, whose sentence opens with
// the flag, for
//   - a flag that `app` does not have, with the nearest names;
//   - a missing or repeated value, or another flag in its place;
//   - a number that is malformed, not finite or out of its type's range;
//   - what an option's own check refuses, and requirements between options.
// Integers are decimal, "010" is ten.
bool ParseFlags(CLI::App& app, const Args& args, std::ostream& out);

// A check for an option of text: its value is exactly one of `names`. The help
// shows them.
CLI::Validator OneOf(const Args& names);

// "6%" or "6": percent, at least 0. Throws InputError that names `flag`.
double ParsePercent(const std::string& flag, const std::string& text);

}  // namespace stagecraft
