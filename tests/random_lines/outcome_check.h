// What holds of every command line, whatever it asks for.
#pragma once

#include <string>
#include <vector>

#include "tools/verb/command.h"

namespace stagecraft::random_lines {

// What a user sees.
struct Outcome {
  int code = 0;
  std::string out, err;
};

// Runs it in this process.
Outcome RunLine(const Args& words);

// What is wrong with the outcome, a sentence each:
//   - exit codes are those of the README, and 1 only where an output cannot be written;
//   - refused (2): nothing on stdout but of `check`, and one line on stderr, a sentence;
//   - infeasible (3): a report, or a sentence on stderr;
//   - answered (0, 3 or 4): no "nan", "inf" or negative zero in a report; with --json one
//     object whose times, rates and sizes are finite and not negative, where nothing is -1 in
//     place of null, shares at most 1, parts
//     of a step adding up to it, and a plan that fits where all its stages do.
std::vector<std::string> FindProblems(const Args& words, const Outcome& outcome);

// A report without what depends on the machine's speed.
std::string Repeatable(const Args& words, const Outcome& outcome);

}  // namespace stagecraft::random_lines
