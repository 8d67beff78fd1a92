#include "tools/run/own_ranks.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <stdexcept>

#include "costmodel/check.h"
#include "runtime/rank_launcher.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

constexpr std::string_view kFailure = "stagecraft run: ";  // begins the error line of `run`

}  // namespace

void RunOwnRanks(int ranks, const std::vector<std::string>& command, std::ostream& out,
                 std::ostream& err) {
  std::map<int, std::string> failures;  // by rank
  const LaunchEnd end = LaunchBareRanks(ranks, command, [&](const ChildLine& line) {
    if (line.is_error && line.text.starts_with(kFailure)) {
      failures[line.process] = line.text.substr(kFailure.size());
    } else {
      (line.is_error ? err : out) << line.text << std::endl;
    }
  });
  if (end.exit_code == 0) return;
  const auto said = failures.find(end.rank);
  if (said == failures.end()) throw std::runtime_error(end.death + "; all processes were stopped");
  if (end.exit_code == kExitBadInput) throw InputError(said->second);
  throw std::runtime_error(
      fmt::format("rank {}: {}; all processes were stopped", end.rank, said->second));
}

std::string OwnProgram() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace stagecraft
