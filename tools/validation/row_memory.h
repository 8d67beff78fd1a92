// What the framework of a stack, or of a measured row, is known to hold.
#pragma once

#include <string>

#include "sim/memory/framework_memory.h"
#include "tools/validation/completed_row.h"

namespace stagecraft {

// What a stack of the embedded table does whatever its flags; plain PyTorch where nothing
// is known.
FrameworkMemory StackFramework(const std::string& stack);

FrameworkMemory RowFramework(const CompletedRow& completed);

}  // namespace stagecraft
