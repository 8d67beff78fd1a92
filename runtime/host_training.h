// HostTraining: what the processes of a training run on a host do, from one start to the next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft {

// The process of a rank is killed when the run has first completed so many steps, before a
// checkpoint there.
struct RankKill {
  int rank = 0;
  int64_t step = 0;
  friend bool operator==(const RankKill&, const RankKill&) = default;
};

// The same for all processes. The first checkpoint is there when they start, unless
// checkpoint_every is 0.
struct HostTraining {
  uint64_t run = 0;              // whose checkpoints count
  int64_t first = 0;             // steps that are complete when they start
  int64_t steps = 0;             // of the whole run
  int64_t checkpoint_every = 0;  // steps after `first`, and after the last one; 0: no checkpoints
  std::string folder;            // of checkpoints
  std::vector<RankKill> kills;   // that still have to happen
  std::string log;               // the file of a RunLog

  // A rehearsal runs no steps. With checkpoints it writes some into another folder, and then the
  // one after `first` steps, if that is 0. In the end the first rank of `kills` dies.
  bool is_rehearsal = false;
  int trial_writes = 0;
  std::string trial_folder;

  bool HasCheckpoints() const { return checkpoint_every > 0; }
  friend bool operator==(const HostTraining&, const HostTraining&) = default;
};

}  // namespace stagecraft
