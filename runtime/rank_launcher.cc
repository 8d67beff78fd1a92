#include "runtime/rank_launcher.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <thread>

#include "costmodel/check.h"

extern char** environ;

namespace stagecraft {
namespace {

constexpr const char* kMark = "stagecraft: ";

std::vector<std::string> Environment() {
  std::vector<std::string> variables = {
      // Processes take turns where they share a processor, and may be root's in containers.
      "OMPI_MCA_mpi_yield_when_idle=1", "OMPI_ALLOW_RUN_AS_ROOT=1",
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What mpirun says of a process that died, in our words.
std::string DeathIn(const std::string& text) {
  static const std::regex kSignal("process rank ([0-9]+) .*exited on signal ([0-9]+)");
  std::smatch match;
  if (!std::regex_search(text, match, kSignal)) return "";
  return fmt::format("rank {}: killed by signal {}", match[1].str(), match[2].str());
}

}  // namespace

LaunchEnd LaunchRanks(int ranks, const std::vector<std::string>& command,
                      const std::function<void(const std::string& line)>& line) {
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "-n", std::to_string(ranks)};
  const bool fits = ranks <= static_cast<int>(std::thread::hardware_concurrency());
  for (const char* word : {"--bind-to", fits ? "core" : "none"}) words.emplace_back(word);
  words.insert(words.end(), command.begin(), command.end());
  std::vector<std::string> variables = Environment();
  std::array<int, 2> ends{};
  CHECK(pipe(ends.data()) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int error = posix_spawnp(&child, "mpirun", &actions, nullptr, Pointers(words).data(),
                                 Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    throw InputError(fmt::format("run: cannot start mpirun: {}, want Debian's package openmpi-bin",
                                 std::strerror(error)));
  }
  LaunchEnd end;
  FILE* printed = fdopen(ends[0], "r");
  char* text = nullptr;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&text, &capacity, printed)) > 0;) {
    std::string own(text, static_cast<size_t>(length));
    if (own.back() == '\n') own.pop_back();
    if (own.starts_with(kMark)) {
      line(own.substr(std::strlen(kMark)));
    } else if (end.death.empty()) {
      end.death = DeathIn(own);
    }
  }
  std::free(text);
  std::fclose(printed);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

std::string RankLine(const std::string& text) { return kMark + text + "\n"; }

bool IsLaunched() {
  return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace stagecraft
