// Reads an execution trace of MLCommons Chakra, gzipped or not: one file for each rank.
#pragma once

#include <string>

#include "tools/recorded/recording.h"

namespace stagecraft {

// Takes the nodes that ran on the device, and the ranges of nodes of the CPU around them. The rank
// is the number before ".et" in the name of the file, if there is one. Throws InputError for a file
// that is no such trace, for one without durations, which was never measured, and, unless
// `cut_off` says otherwise, for one that ends within a message.
Recording ReadChakra(const std::string& path, CutOff cut_off);

}  // namespace stagecraft
