// Calibration: what a few samples of a site say of one board.
#pragma once

#include <span>
#include <string>

#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/known_boards.h"

namespace stagecraft {

struct Calibration {
  KnownBoard board;
  std::string changes;  // for people: "tensor_gemm: all x 1.020, rate x 0.965"
};

// The board's constants move as far as the rows tell and Constant::calibration
// allows, half of that where the board was measured before; so does a factor
// common to all. Of the trees' correction half is kept at most, as another
// laboratory's library differs; all of it where the board was measured before and
// the rows agree better with that. `rows` are of one device, at least one of
// them; `prior` is that device's setting.
Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const BoardSetting& prior, std::span<const FitRow> rows);

}  // namespace stagecraft
