// Says what the framework of a training stack, or of a measured row, holds in memory.
#pragma once

#include <string>

#include "sim/memory/framework_memory.h"
#include "tools/validation/completed_row.h"

namespace stagecraft {

// Returns what a stack of the embedded table holds whatever its flags; that of plain PyTorch if the
// stack is not known.
FrameworkMemory StackFramework(const std::string& stack);

// Returns the same for a row, with the facts that are known about it.
FrameworkMemory RowFramework(const CompletedRow& completed);

}  // namespace stagecraft
