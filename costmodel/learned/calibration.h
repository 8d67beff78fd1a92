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
// a third as far if the type was measured before; so does one factor common to all predictions. The
// trees' correction stays as it is. From 50 rows on, what is left of them is smoothed over the sizes
// of ops (smooth_residual.h). Rows weigh less if they are short, vary between repeats or lie far
// off. `rows` are at least one, all of one device; `prior` is that device's setting. The spread is
// left to FamilyModel, which knows it.
Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const GpuSetting& prior, std::span<const FitRow> rows);

}  // namespace stagecraft
