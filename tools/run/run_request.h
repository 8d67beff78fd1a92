// RunRequest: how often `run` executes a schedule, and what it prints meanwhile.
#pragma once

#include "runtime/measured_steps.h"

namespace stagecraft {

struct RunRequest {
  StepCounts steps = {};
  bool quiet = false;      // nothing on stderr
  bool share_gpu = false;  // CUDA: ranks may be processes on one GPU
};

}  // namespace stagecraft
