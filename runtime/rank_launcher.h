// Starts the processes of a run on this host, and says what became of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/child_processes.h"

namespace stagecraft {

struct LaunchEnd {
  int exit_code = 0;  // of the first process that failed, or of mpirun, which has it from there
  // In words, which process died of what: "rank 1: killed by signal 9"; empty where none did.
  std::string death;
  int rank = -1;  // of that process, where no mpirun stands between; -1: not known, or none
};

// Runs a command under Debian's mpirun, a process a rank, each on a processor of its own where
// there are as many. Processes print their lines with a mark (RankLine); `line` hears these,
// without it, and nothing of what MPI says. Returns when all have ended: where one dies the
// others are ended too. Throws InputError where there is no mpirun.
LaunchEnd LaunchRanks(int ranks, const std::vector<std::string>& command,
                      const std::function<void(const std::string& line)>& line);

// The same without MPI: what torchrun would say of each process stands in its variables
// (process_rank.h), and `line` hears all that any of them prints, by rank.
LaunchEnd LaunchBareRanks(int ranks, const std::vector<std::string>& command,
                          const std::function<void(const ChildLine&)>& line);

// What a process prints so that LaunchRanks() hears it.
std::string RankLine(const std::string& text);

}  // namespace stagecraft
