#include "tools/ranks/launched_rank.h"

#include <fmt/core.h>

#include <cstdlib>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostNumber = 1'000'000'000;

// Where a launcher says which rank a process is.
struct Launcher {
  const char* rank;
  const char* size;
};
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

}  // namespace

std::optional<std::string> ProcessEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> NumberIn(const Environment& environment, const char* name,
                                const char* instead) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  const std::optional<int64_t> number = ParseNumber<int64_t>(*text);
  if (number && *number >= 0 && *number <= kMostNumber) return number;
  throw InputError(fmt::format("{}: got \"{}\" in the environment, want a whole number{}", name,
                               *text, instead));
}

std::optional<LaunchedRank> FindLaunchedRank(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = NumberIn(environment, launcher.rank);
    const auto size = NumberIn(environment, launcher.size);
    if (!rank || !size) continue;
    if (*rank >= *size) {
      throw InputError(fmt::format("{}: got {} in the environment, want less than {}, which is {}",
                                   launcher.rank, *rank, launcher.size, *size));
    }
    const int64_t here = NumberIn(environment, "OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1);
    if (here < 1) {
      throw InputError("OMPI_COMM_WORLD_LOCAL_SIZE: got 0 in the environment, want 1 or more");
    }
    return LaunchedRank{*rank, *size, static_cast<int>(here), launcher.rank};
  }
  return std::nullopt;
}

}  // namespace stagecraft
