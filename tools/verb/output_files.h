// The files that a command writes, checked before it does anything else.
#pragma once

#include "tools/verb/command.h"

namespace stagecraft {

// Flags of any verb whose value is a file to write.
const Args& OutputFlags();

// Checks the output files that the words of a verb name. Throws InputError for an empty name, a
// name that is too long, a file that the words name twice, to read or to write it, a directory, and
// a file in a folder that does not exist; throws std::runtime_error for a file that the system does
// not let this process write. Leaves no file behind. `of_verb` are flags that name a file to write
// for this verb alone, and may be inputs of others.
void CheckOutputFiles(const Args& words, const Args& of_verb = {});

}  // namespace stagecraft
