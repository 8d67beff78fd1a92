// Says what the framework of a measured row holds in memory.
#pragma once

#include "sim/memory/framework_memory.h"
#include "tools/validation/completed_row.h"

namespace stagecraft {

// Returns what the software of the row's stack holds, with the facts that are known about the row.
FrameworkMemory RowFramework(const CompletedRow& completed);

}  // namespace stagecraft
