// Starts the processes of a run on this host, and says what became of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/child_processes.h"

namespace stagecraft {

struct LaunchEnd {
  int exit_code = 0;  // of the first process that failed, or of mpirun, which passes it on
  // In words, which process died of what: "rank 1: killed by signal 9"; empty if none did.
  std::string death;
  int rank = -1;  // of that process, if it was not started by mpirun; -1: not known, or none
};

// Runs a command under Debian's mpirun, one process for each rank, each on a CPU of its own if
// there are as many. Processes mark the lines that are meant for this one (RankLine()); `line` gets
// these without the mark, and nothing of what MPI prints. Returns when all have ended: if one dies
// the others are ended, too. Throws InputError if there is no mpirun.
LaunchEnd LaunchRanks(int ranks, const std::vector<std::string>& command,
                      const std::function<void(const std::string& line)>& line);

// The same without MPI: each process has the variables that torchrun would set (process_rank.h),
// and `line` gets everything that any of them prints, by rank.
LaunchEnd LaunchBareRanks(int ranks, const std::vector<std::string>& command,
                          const std::function<void(const ChildLine&)>& line);

// What a process prints so that LaunchRanks() gets it.
std::string RankLine(const std::string& text);

}  // namespace stagecraft
