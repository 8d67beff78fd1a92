// RegularPlan: a plan whose stages are alike, as frameworks with one degree for all stages take it.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct RegularPlan {
  int tensor = 1, context = 1, expert = 1, data = 1, stages = 1, chunks = 1;
  std::vector<int> part_layers;            // of every part of the pipeline in execution order
  Recompute recompute = Recompute::kNone;  // of blocks that do not recompute whole
  // How many blocks of a chunk recompute whole: the first ones (kBlock), or all in ranges of this
  // many (kUniform); 0: none, or all with Recompute::kFull.
  RecomputeChoice::Method method = RecomputeChoice::Method::kBlock;
  int recomputed_blocks = 0;

  int Ranks() const { return tensor * context * data * stages; }
};

// What is found of a plan: the plan, or why it is not regular, as half a sentence that names the
// feature.
struct Regularity {
  RegularPlan plan;
  std::string problem;  // empty if it is
};

Regularity FindRegularity(const Plan& plan, const Workload& workload);

}  // namespace stagecraft
