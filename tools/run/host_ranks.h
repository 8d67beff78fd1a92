// The processes of `run --executor host` and `import local-host`, started under mpirun.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "runtime/rank_launcher.h"

namespace stagecraft {

// What the processes say about their progress, in words: "step 3"; at the end of a training run
// "state 0123456789abcdef", a hash of the states of all ranks.
using RankSays = std::function<void(const std::string& line)>;

struct HostRanksEnd {
  LaunchEnd launch;
  std::string failure;  // what the first process said that failed; may be empty
};

// Runs stagecraft_host_rank, which lies beside this program, as `ranks` processes with the
// arguments `words`, until all have ended; they are ended when `stop` becomes true. Throws
// InputError if mpirun or the program is missing.
HostRanksEnd StartHostRanks(int ranks, std::vector<std::string> words, const RankSays& says,
                            const std::atomic<bool>* stop);

// Throws InputError if the processes ended because of an error in a file among their arguments,
// and std::runtime_error that names the process if one failed. Throws nothing if they were stopped.
void RequireSuccess(const HostRanksEnd& end);

// Does both. Returns false if the processes were stopped.
bool RunHostRanks(int ranks, std::vector<std::string> words, const RankSays& says,
                  const std::atomic<bool>* stop = nullptr);

}  // namespace stagecraft
