// Reads launch scripts: finds the command that starts the training, with the variables that the
// script sets put in. Nothing is run.
//
// It knows words, quotes, comments, continued lines, variables, arrays, ${NAME:-default}, sums such
// as $((NODES * 8)), and commands in quotes after -c. What only a shell can know has no value:
// variables that the script does not set, or sets under a condition, and the output of commands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stagecraft {

// No launch script is larger.
inline constexpr int64_t kMostScriptBytes = 1 << 20;

// One word of a command.
struct ShellWord {
  std::string text;
  int line = 0;       // counted from 1
  std::string unset;  // the first part of it that has no value, such as "$NODES"; may be empty
};

using ShellVariables = std::map<std::string, std::string>;

struct LaunchCommand {
  std::vector<ShellWord> words;
  // What the lines beginning with #SBATCH ask for: "nodes", "8"; those without a value have none.
  std::map<std::string, std::string> slurm;
};

// Returns the only command of a script that starts a Python program: a word ends in .py, or python
// takes -m. `given` are variables that the shell has already; those that the script sets replace
// them. Throws an InputError that begins with `name` for unbalanced quotes and brackets, and if
// there are none or several such commands.
LaunchCommand ReadLaunchScript(const std::string& text, const std::string& name,
                               const ShellVariables& given);

}  // namespace stagecraft
