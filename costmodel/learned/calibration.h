// Calibration: what a few samples of a site teach about one GPU type.
#pragma once

#include <span>
#include <string>

#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/known_gpus.h"

namespace stagecraft {

struct Calibration {
  KnownGpu gpu;
  std::string changes;  // for people: "tensor_gemm: all x 1.020, rate x 0.965"
};

// The constants of the GPU type move as far as the rows justify and Constant::calibration allows,
// half as far if the type was measured before; so does one factor common to all predictions. At
// most half of the trees' correction is kept, since another laboratory's library differs; all of it
// if the type was measured before and the rows agree better with that. `rows` are at least one, all
// of one device; `prior` is that device's setting.
Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const GpuSetting& prior, std::span<const FitRow> rows);

}  // namespace stagecraft
