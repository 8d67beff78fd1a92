// Every call that a piece of work makes, failing in turn.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/cuda/stand_in/board.h"

namespace stagecraft {

// Without a failure the work says nothing, nor does it leave anything behind. Then it is done as
// often as it calls CUDA's functions, the driver's and those of libraries: each time it begins
// anew on the board, one call fails, and the test fails unless the work says so in a sentence,
// leaves nothing behind and lets no gate run out, which on a GPU would hold it for seconds.
//
// `error_of` does the work and returns what it says went wrong, or throws it; empty: nothing.
// Failures of functions that give something back or read sensors may go unnoticed, and of each
// function in `unnoticed` exactly so many calls do.
void FailEveryCall(const StandInBoard& board, const std::function<std::string()>& error_of,
                   const std::map<std::string, int>& unnoticed = {});

}  // namespace stagecraft
