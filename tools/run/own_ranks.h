// The processes of a run that nobody else started.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace stagecraft {

// Runs `command`, a stagecraft with its words, as so many processes on this host
// (LaunchBareRanks). What they print becomes ours; where one fails its last words are the
// sentence that this throws: as InputError where its exit code says so, else as
// std::runtime_error that names its rank. The others are then ended.
void RunOwnRanks(int ranks, const std::vector<std::string>& command, std::ostream& out,
                 std::ostream& err);

// This program.
std::string OwnProgram();

}  // namespace stagecraft
