// RunOnRanks(): a verb whose work the ranks of an MPI job share.
#pragma once

#include <functional>
#include <iosfwd>

#include "search/team.h"
#include "tools/verb/command.h"

namespace stagecraft {

// Returns the exit code. `team` is null if this process was started alone.
using TeamVerb = std::function<int(Team* team, std::ostream& out, std::ostream& err)>;

// Calls `verb`, in every process of an MPI job (FindLaunchedRank()) or in this one alone, and
// returns the exit code. Only rank 0 prints, and only its exit code counts: the streams of all
// other ranks lead nowhere. If one of them throws, rank 0 throws the same with its number before
// it, and all end. Ranks on one machine share its processors. Without an MPI job MPI is not even
// loaded. Throws InputError if the ranks were given different arguments.
int RunOnRanks(const Args& args, std::ostream& out, std::ostream& err, const TeamVerb& verb);

}  // namespace stagecraft
