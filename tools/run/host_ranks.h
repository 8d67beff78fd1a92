// The processes of `run --executor host` and `import local-host`, started under mpirun.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stagecraft {

// Runs stagecraft_host_rank, which lies beside this program, with these words in so many
// processes. `step` hears of each step that is done. Throws InputError where mpirun or the
// program is missing or the words' files are wrong, and std::runtime_error that names the
// process that failed.
void RunHostRanks(int ranks, std::vector<std::string> words,
                  const std::function<void(const std::string& line)>& step);

}  // namespace stagecraft
