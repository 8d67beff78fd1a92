// ShortStep: a step of fewer micro-batches that can stand for a plan's (repetition.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/plan/plan.h"

namespace stagecraft {

struct ShortStep {
  int64_t global_batch = 0;  // of the plan that is simulated, otherwise the same
  int64_t more = 0;          // micro-batches that each of its pipelines has less
  int64_t group = 1;         // that its orders take together
};

// Enough micro-batches to fill the pipeline, settle and drain it. Nothing where that is most
// of the plan's, or its order does not alternate forwards and backwards micro-batch after
// micro-batch (1F1B and interleaved 1F1B do), or its pipelines are not alike.
std::optional<ShortStep> ShortenStep(const Plan& plan);

}  // namespace stagecraft
