// RandomLine: a command line of any verb, often one that the program answers.
#pragma once

#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {

// Names of files are relative to the working directory; what is written goes to "out/". The
// same generator gives the same line.
Args DrawLine(const Files& files, const Random& random);

// Its words as a shell would take them.
std::string Quoted(const Args& words);

}  // namespace stagecraft::random_lines
