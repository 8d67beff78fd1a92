// Checks what must hold for every command line, whatever it asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/verb/command.h"

namespace stagecraft::random_lines {

// What a user sees of a command: exit code, stdout and stderr.
struct Outcome {
  int code = 0;
  std::string out, err;
};

// Runs a command line in this process.
Outcome RunLine(const Args& words);

// Returns what is wrong with the outcome, as one sentence each. It must be as follows:
//   - exit codes are those of docs/cli.md, and 1 only if an output cannot be written;
//   - refused (2): nothing on stdout except by `check`, and one line on stderr, a sentence;
//   - infeasible (3): a report, or a sentence on stderr;
//   - answered (0, 3 or 4): no "nan" or "inf" in a report; with --json one
//     object whose times, rates and sizes are finite and not negative, without -1 in
//     place of null, with shares of at most 1, parts of a step that add up to it, and a plan
//     that fits if and only if all its stages do.
std::vector<std::string> FindProblems(const Args& words, const Outcome& outcome);

// Returns the exit code and the report of an outcome, without values that depend on the machine's
// speed.
std::string Repeatable(const Args& words, const Outcome& outcome);

}  // namespace stagecraft::random_lines
