// OutputOf(): what a command of the shell prints.
#pragma once

#include <string>

namespace stagecraft {

// Runs the command with the shell and returns what it writes to its standard output. The test fails
// unless the command ends with exit code 0; what it has written is returned all the same.
std::string OutputOf(const std::string& command);

}  // namespace stagecraft
