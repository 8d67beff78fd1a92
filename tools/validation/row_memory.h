// What the framework of a stack, or of a measured row, is known to hold in memory.
#pragma once

#include <string>

#include "sim/memory/framework_memory.h"
#include "tools/validation/completed_row.h"

namespace stagecraft {

// What a stack of the embedded table does whatever its flags; plain PyTorch if nothing is known
// about it.
FrameworkMemory StackFramework(const std::string& stack);

FrameworkMemory RowFramework(const CompletedRow& completed);

}  // namespace stagecraft
