#include "tools/host_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "costmodel/check.h"
#include "runtime/rank_launcher.h"
#include "tools/command.h"

namespace stagecraft {
namespace {

// The program that processes run: beside this one, or where a test says.
std::string RankProgramFile() {
  const char* told = std::getenv("STAGECRAFT_HOST_RANK");
  if (told != nullptr) return told;
  const std::filesystem::path file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "stagecraft_host_rank";
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file.string();
  throw InputError(file.string() + " is missing, want it beside stagecraft");
}

}  // namespace

ScratchFolder::ScratchFolder() {
  // Six characters that mkdtemp() replaces.
  std::string name =
      (std::filesystem::temp_directory_path() / "stagecraft-").string() + std::string(6, 'X');
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

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
