// RandomLine: a random command line of any verb, often one that the program answers.
#pragma once

#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {

// Returns a random command line. Names of files are relative to the working directory; output files
// are in "out/". The same generator gives the same line.
Args DrawLine(const Files& files, const Random& random);

// Returns the words of a line as a shell takes them.
std::string Quoted(const Args& words);

}  // namespace stagecraft::random_lines
