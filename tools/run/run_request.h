// RunRequest: how often `run` executes a schedule, and what it prints meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/host_training.h"
#include "runtime/measured_steps.h"

namespace stagecraft {

// A training run with checkpoints and failures, in the place of single steps.
struct MeasuredRunRequest {
  int64_t steps = 0;             // > 0
  int64_t checkpoint_every = 0;  // steps; 0: never
  std::string folder;            // of the checkpoints; empty: a temporary one
  std::vector<RankKill> kills;   // distinct, ascending by step
};

struct RunRequest {
  StepCounts steps = {};
  bool quiet = false;      // nothing on stderr
  bool share_gpu = false;  // CUDA: ranks may be processes on one GPU

  // Only the executor "host" reads these.
  std::vector<double> speeds = {};                      // by rank, in (0, 1]; empty: full speed
  std::optional<MeasuredRunRequest> measured_run = {};  // in the place of `steps`
  const std::atomic<bool>* stop = nullptr;              // ends the run when it becomes true
};

}  // namespace stagecraft
