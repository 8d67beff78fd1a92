#include "tools/run/host_ranks.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "costmodel/check.h"
#include "runtime/rank_launcher.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

// Returns the path of the program that the processes run: beside this one, or as a test says.
std::string RankProgramFile() {
  const char* told = std::getenv("STAGECRAFT_HOST_RANK");
  if (told != nullptr) return told;
  const std::filesystem::path file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "stagecraft_host_rank";
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file.string();
  throw InputError(file.string() + " is missing, want it in the folder of stagecraft");
}

}  // namespace

void RunHostRanks(int ranks, std::vector<std::string> words,
                  const std::function<void(const std::string& line)>& step) {
  words.insert(words.begin(), RankProgramFile());
  std::string failure;
  const LaunchEnd end = LaunchRanks(ranks, words, [&](const std::string& line) {
    if (line.starts_with("step ")) {
      step(line);
    } else if (failure.empty()) {
      failure = line;
    }
  });
  if (end.exit_code == 0) return;
  if (end.exit_code == kExitBadInput && !failure.empty()) throw InputError(failure);
  std::string why = !failure.empty() ? failure : end.death;
  if (why.empty()) why = fmt::format("mpirun ended with code {}", end.exit_code);
  throw std::runtime_error(why + "; all processes were stopped");
}

}  // namespace stagecraft
