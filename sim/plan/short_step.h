// ShortStep: a step of fewer micro-batches that can stand for that of a plan (repetition.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/plan/plan.h"

namespace stagecraft {

struct ShortStep {
  int64_t global_batch = 0;  // of the plan that is simulated, which is otherwise the same
  int64_t more = 0;          // by how many micro-batches each of its pipelines is shorter
  int64_t group = 1;         // how many micro-batches its pipeline schedules take together
};

// Returns a step with enough micro-batches to fill the pipeline, settle and drain it. No value if
// that is most of the plan's micro-batches, if the plan's pipeline schedule does not alternate
// forwards and backwards micro-batch after micro-batch (1F1B and interleaved 1F1B do), or if its
// pipelines are not alike.
std::optional<ShortStep> ShortenStep(const Plan& plan);

// Returns a step that is shorter still, and enough for most pipelines. No value either if that is
// most of what ShortenStep() gives, or if gradients are reduced after every micro-batch, which makes
// it likely that a lane falls behind.
std::optional<ShortStep> ShortenMore(const Plan& plan);

}  // namespace stagecraft
