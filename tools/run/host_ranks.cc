#include "tools/run/host_ranks.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

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

HostRanksEnd StartHostRanks(int ranks, std::vector<std::string> words, const RankSays& says,
                            const std::atomic<bool>* stop) {
  words.insert(words.begin(), RankProgramFile());
  HostRanksEnd end;
  const auto hear = [&](const std::string& line) {
    if (line.starts_with("step ") || line.starts_with("state ")) {
      says(line);
    } else if (end.failure.empty()) {
      end.failure = line;
    }
  };
  end.launch = LaunchRanks(ranks, words, hear, stop);
  return end;
}

void RequireSuccess(const HostRanksEnd& end) {
  const LaunchEnd& launch = end.launch;
  if (launch.exit_code == 0 || launch.was_stopped) return;
  if (launch.exit_code == kExitBadInput && !end.failure.empty()) throw InputError(end.failure);
  std::string why = !end.failure.empty() ? end.failure : launch.death;
  if (why.empty()) why = fmt::format("mpirun ended with code {}", launch.exit_code);
  throw std::runtime_error(why + "; all processes were stopped");
}

bool RunHostRanks(int ranks, std::vector<std::string> words, const RankSays& says,
                  const std::atomic<bool>* stop) {
  const HostRanksEnd end = StartHostRanks(ranks, std::move(words), says, stop);
  RequireSuccess(end);
  return !end.launch.was_stopped;
}

}  // namespace stagecraft
