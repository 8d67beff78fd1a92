// What the framework of a stack, or of a measured row, is known to hold.
#pragma once

#include <string>

#include "sim/memory/framework_memory.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// The row's notes give the flags of a Megatron-LM test ("flags: bf16 ...;"); `flag`
// is one of them, with its value or without.
bool HasFlag(const MeasuredRow& row, const std::string& flag);

// Layers of Megatron-core's own, without TransformerEngine; their attention is
// unfused (--transformer-impl local).
bool HasLocalLayers(const MeasuredRow& row);

// What a stack does whatever its flags; plain PyTorch where nothing is known.
FrameworkMemory StackFramework(const std::string& stack);

FrameworkMemory RowFramework(const MeasuredRow& row);

}  // namespace stagecraft
