// MainPart(): the mechanism to which most of a predicted step or of a predicted memory is due, in
// words, for tables of errors by mechanism.
#pragma once

#include "sim/memory/stage_memory.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// Parts of a step below this share of it are no main parts.
inline constexpr double kLeastMainPart = 0.05;

// Returns what takes most of the step besides the computation of layers: "bubble", "tensor
// parallel", "launches of the host" and so on; "computation alone" if nothing takes kLeastMainPart.
const char* MainPart(const Evaluation& evaluation);

// Returns what takes most of the memory: "weights, gradients, optimizer", "activations", or
// "buffers and framework".
const char* MainPart(const StageMemory& memory);

}  // namespace stagecraft
