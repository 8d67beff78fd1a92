// What a command writes, looked at before it does anything else.
#pragma once

#include "tools/command.h"

namespace stagecraft {

// Flags of any verb whose value is a file to write.
const Args& OutputFlags();

// Of the words of a verb: throws InputError for an output without a name, one that is also read
// or written twice, a directory, and one in a folder that does not exist; std::runtime_error for
// one that the system does not let be written. Leaves no file behind.
void CheckOutputFiles(const Args& words);

}  // namespace stagecraft
