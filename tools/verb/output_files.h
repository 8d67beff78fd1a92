// What a command writes, looked at before it does anything else.
#pragma once

#include "tools/verb/command.h"

namespace stagecraft {

// Flags of any verb whose value is a file to write.
const Args& OutputFlags();

// Checks the outputs that the words of a verb name. Throws InputError for one without a name or
// with a name that is too long, one that is also read or is written twice, a directory, and one in
// a folder that does not exist; std::runtime_error for one that the system does not let be
// written. Leaves no file behind.
void CheckOutputFiles(const Args& words);

}  // namespace stagecraft
