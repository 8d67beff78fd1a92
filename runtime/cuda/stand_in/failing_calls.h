// Lets every call that a piece of work makes fail in turn.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {

// Without a failure the work must report nothing and leave nothing behind. Then it is done as often
// as it calls CUDA's functions, the driver's and those of libraries: each time it begins anew on
// the GPU, one call fails, and the test fails unless the work reports it in a sentence, leaves
// nothing behind and lets no gate run out, which on a GPU would hold it for seconds.
//
// `error_of` does the work and returns what it says went wrong, or throws it; empty: nothing.
// Failures of functions that release something or read sensors may go unnoticed, and for each
// function in `unnoticed` exactly that number of calls does.
// function in `unnoticed` exactly that many calls do.
void FailEveryCall(const StandInGpu& gpu, const std::function<std::string()>& error_of,
                   const std::map<std::string, int>& unnoticed = {});

}  // namespace stagecraft
