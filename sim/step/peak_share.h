// PeakShare: which share of the dense peak of its devices the arithmetic of a step uses.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The share of what the devices of the plan could compute at their peak rates, where each GEMM is
// compared with the peak of the format in which it runs: 8-bit training runs attention in 16 bits.
// Multiplications that Winograd's algorithm saves do not count.
// No step reaches more than 1. Equal to Evaluation::mfu() and hfu() except in 8-bit training, where
// these compare everything with the 16-bit peak, and for 32-bit convolutions.
struct PeakShare {
  double model = 0;     // of model_flops
  double hardware = 0;  // of hardware_flops; recomputed ones count at the fastest format
};

// Precondition: `evaluation` is that of `plan` and has a step time.
PeakShare PeakShareOf(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                      const Cluster& cluster);

}  // namespace stagecraft
