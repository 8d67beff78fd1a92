// PassAlong() for evaluations: what ranks of a team tell each other about plans (packing.h).
#pragma once

#include "search/packing.h"
#include "search/solution.h"
#include "sim/analysis/steady_state.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

template <typename Bytes, Is<SteadyState> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [stretch, step, drift, stages] = value;
  bytes(stretch, step, drift, stages);
}

template <typename Bytes, Is<Evaluation> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [step_time, low, high, unshared_time, profile, steady, memory, fits, tokens, samples,
         devices, group_devices, model_flops, hardware_flops, peak] = value;
  bytes(step_time, low, high, unshared_time, profile, steady, memory, fits, tokens, samples,
        devices, group_devices, model_flops, hardware_flops, peak);
}

// Leaves out the plan except for its schedule: plans may be large, and few of them are needed.
// Whoever needs one makes it again.
template <typename Bytes, Is<RankedPlan> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [plan, evaluation, score] = value;
  bytes(plan.schedule, evaluation, score);
}

}  // namespace stagecraft
