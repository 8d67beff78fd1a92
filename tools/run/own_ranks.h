// The processes of a run that `run` starts itself, because no launcher did.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace stagecraft {

// Runs `command`, stagecraft with its arguments, as `ranks` processes on this host
// (LaunchBareRanks()). What they print goes to `out` and `err`. If one fails the others are ended,
// and the error that it printed is thrown: as InputError if its exit code is kExitBadInput, else as
// std::runtime_error that names its rank.
void RunOwnRanks(int ranks, const std::vector<std::string>& command, std::ostream& out,
                 std::ostream& err);

// Returns the path of this program.
std::string OwnProgram();

}  // namespace stagecraft
