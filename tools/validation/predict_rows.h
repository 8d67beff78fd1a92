// Predicts many measured rows, on all processors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/validation/error_table.h"
#include "tools/validation/prediction.h"

namespace stagecraft {

using RowProgress = std::function<void(int64_t done, int64_t all)>;

// Sets the prediction of each row; the result does not depend on the number of processors. Calls
// `progress`, if given, from the calling thread.
void PredictRows(std::vector<ValidatedRow>& rows, const PredictionBasis& basis,
                 const RowProgress& progress = nullptr);

}  // namespace stagecraft
