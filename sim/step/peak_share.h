// PeakShare: how much of the dense peak of its devices the arithmetic of a step takes.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The share of what the plan's devices could compute at their peak rates, where each product is
// held against the peak of the format that it runs in: training in 8 bits runs attention in 16.
// No step reaches more than 1. Equal to Evaluation::mfu() and hfu() but for training in 8 bits,
// where those hold everything against the 16-bit peak.
struct PeakShare {
  double model = 0;     // of model_flops
  double hardware = 0;  // of hardware_flops; what is recomputed counts at the fastest format
};

// `evaluation` is of `plan` and has a step time.
PeakShare PeakShareOf(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                      const Cluster& cluster);

}  // namespace stagecraft
