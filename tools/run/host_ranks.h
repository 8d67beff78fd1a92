// The processes of `run --executor host` and `import local-host`, started under mpirun.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stagecraft {

// Runs stagecraft_host_rank, which lies beside this program, as `ranks` processes with the
// arguments `words`. Calls `step` with a line for each step that is done. Throws InputError if
// mpirun or the program is missing or if there is an error in a file among the arguments, and
// std::runtime_error that names the process if one fails.
void RunHostRanks(int ranks, std::vector<std::string> words,
                  const std::function<void(const std::string& line)>& step);

}  // namespace stagecraft
