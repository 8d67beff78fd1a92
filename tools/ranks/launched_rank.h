// LaunchedRank: which of the processes of an MPI job this one is, as its launcher says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stagecraft {

// Returns the value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const char*)>;
// Returns a variable of the environment of this process; no value if it is not set.
std::optional<std::string> ProcessEnvironment(const char* name);

// Returns the number that a variable holds; no value if it is not set. Throws InputError if it is
// not a whole number from 0 to 10^9; `instead` says what may be given in its place.
std::optional<int64_t> NumberIn(const Environment& environment, const char* name,
                                const char* instead = "");

struct LaunchedRank {
  int64_t rank = 0, size = 1;
  int local_size = 1;    // ranks on this machine, if the launcher says so
  std::string variable;  // that names the rank: "OMPI_COMM_WORLD_RANK"
};

// Returns the rank that mpirun or srun gave this process (OMPI_COMM_WORLD_RANK, PMI_RANK,
// PMIX_RANK); no value if none did. Throws InputError for variables that do not go together.
std::optional<LaunchedRank> FindLaunchedRank(const Environment& environment);

}  // namespace stagecraft
