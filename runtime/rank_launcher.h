// Starts the processes of a run on this host, and reports how they ended.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "runtime/child_processes.h"

namespace stagecraft {

struct LaunchEnd {
  int exit_code = 0;  // of the first process that failed; mpirun passes it on
  // Which process died, and why, in words: "rank 1: killed by signal 9"; empty if none did.
  std::string death;
  int rank = -1;  // the process that failed, if mpirun did not start it; -1: not known, or none
  bool was_stopped = false;  // `stop` ended them
};

// Runs a command under Debian's mpirun, one process for each rank, each on a CPU of its own if
// there are enough. `line` is called with each line that a process marked by RankLine(), without
// the mark, and with nothing that MPI prints. Returns when all processes have ended: if one dies
// the others are ended, too, and so are all when `stop` becomes true. Throws InputError if there is
// no mpirun.
LaunchEnd LaunchRanks(int ranks, const std::vector<std::string>& command,
                      const std::function<void(const std::string& line)>& line,
                      const std::atomic<bool>* stop = nullptr);

// Does the same without MPI: each process has the variables that torchrun would set
// (process_rank.h), and `line` is called with every line that any of them prints, which names the
// process by its rank.
LaunchEnd LaunchBareRanks(int ranks, const std::vector<std::string>& command,
                          const std::function<void(const ChildLine&)>& line);

// Returns the text as a process must print it to reach the launcher through LaunchRanks().
std::string RankLine(const std::string& text);

}  // namespace stagecraft
