// The files that a command writes, checked before it does anything else.
#pragma once

#include "tools/verb/command.h"

namespace stagecraft {

// Flags whose value is a file to write for every verb that has them.
const Args& OutputFlags();

// Checks the output files that the words of a verb name: the values of `flags`. Throws InputError
// for an empty name, a name that is too long, a file that the words name twice, to read or to write
// it, a directory, and a file in a folder that does not exist; throws std::runtime_error for a file
// that the system does not let this process write. Leaves no file behind.
void CheckOutputFiles(const Args& words, const Args& flags = OutputFlags());

}  // namespace stagecraft
