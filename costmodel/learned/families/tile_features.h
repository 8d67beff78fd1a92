// Features of a GEMM: the time that it would take with each of a few tile shapes alone.
#pragma once

#include "costmodel/gemm_tiles.h"
#include "costmodel/learned/families/feature_row.h"

namespace stagecraft {

// Adds, for each of nine tiles, the logarithm of the time that its waves, rounded up, take at
// `peak` (in FLOP/s) over `seconds`; then, for some tiles, the logarithm of their number of waves.
void AddTileFeatures(const Product& product, double peak, int multiprocessors, double seconds,
                     FeatureRow& row);

}  // namespace stagecraft
