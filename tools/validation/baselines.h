// Baselines: trivial predictions that a model should beat.
//
// Both learn step times from the rows of all sources but the row's own, and all sources count
// alike. constant_rate knows FLOPs and peaks, and takes the median of the sources' median
// utilisations; ridge is a linear regression of log(step time) on the logarithms of layers, hidden
// size, sequence, batch, GPUs, tp, pp, peak and FLOPs.
#pragma once

#include <vector>

#include "tools/validation/error_table.h"

namespace stagecraft {

inline constexpr size_t kLeastTraining = 20;

// Fills in constant_rate and ridge of the rows whose metric follows from the step time, if other
// sources have at least kLeastTraining such rows that are primary.
void AddBaselines(std::vector<ValidatedRow>& rows);

}  // namespace stagecraft
