#include "tools/ranks/run_on_ranks.h"

#include <fmt/core.h>
#include <oneapi/tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "runtime/processor_count.h"
#include "search/packing.h"
#include "tools/ranks/launched_rank.h"
#include "tools/ranks/mpi_team.h"

namespace stagecraft {
namespace {

// Returns the number of threads for one rank of a machine: an equal share of its processors, or
// those to which mpirun has bound the process.
int ThreadsOf(const LaunchedRank& launched) {
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, std::min(ProcessorCount(), all / launched.local_size));
}

void CheckArguments(const Args& args, Team& team) {
  Packer own;
  own(std::string(kToolVersion), args);
  const std::vector<std::string> all = team.Exchange(own.Take());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw InputError(fmt::format(
        "rank {}: got other arguments than rank 0, or another version of stagecraft", rank));
  }
}

int RunOnTeam(const Args& args, MpiTeam& team, std::ostream& out, std::ostream& err,
              const TeamVerb& verb) {
  try {
    CheckArguments(args, team);
    const int code = verb(&team, out, err);
    out.flush();
    team.Finish();
    return code;
  } catch (const RankFailure& failure) {
    if (failure.is_bad_input) throw InputError(failure.what());
    throw;
  } catch (const InputError& error) {
    team.Fail(error.what(), true);
    throw;
  } catch (const std::exception& error) {
    team.Fail(error.what(), false);
    throw;
  }
}

}  // namespace

int RunOnRanks(const Args& args, std::ostream& out, std::ostream& err, const TeamVerb& verb) {
  const std::optional<LaunchedRank> launched = FindLaunchedRank(ProcessEnvironment);
  if (!launched || launched->size == 1) return verb(nullptr, out, err);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<size_t>(ThreadsOf(*launched)));
  const bool is_first = launched->rank == 0;
  std::ostream nowhere(nullptr);
  MpiTeam team(*launched);
  try {
    const int code =
        RunOnTeam(args, team, is_first ? out : nowhere, is_first ? err : nowhere, verb);
    return is_first ? code : kExitOk;
  } catch (const std::exception&) {
    if (is_first) throw;
    return kExitOk;  // rank 0 says what has happened
  }
}

}  // namespace stagecraft
