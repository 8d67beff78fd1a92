// RunRequest: how often `run` executes a schedule, and what it says meanwhile.
#pragma once

namespace stagecraft {

struct RunRequest {
  int steps = 5;           // that are measured, >= 1
  int warm_up = 2;         // before them, that do not count, >= 0
  bool quiet = false;      // nothing on stderr
  bool share_gpu = false;  // CUDA: ranks may be processes on one board
};

}  // namespace stagecraft
