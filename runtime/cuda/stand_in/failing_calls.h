// FailEveryCall: does a piece of work again and again, each time with another call failing.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {

// Without a failure the work must report nothing and leave nothing behind. Then it is repeated, as
// often as it calls functions of CUDA, of the driver and of libraries: each time it starts again on
// the GPU, one call fails, and the test fails unless the work reports that in a sentence, leaves
// nothing behind and lets no gate run out, which on a GPU would hold it up for seconds.
//
// `error_of` does the work and returns what it reports, or throws it; empty: nothing. Failures of
// functions that release something or read sensors may go unnoticed, and so must, for each function
// in `unnoticed`, exactly that number of calls.
void FailEveryCall(const StandInGpu& gpu, const std::function<std::string()>& error_of,
                   const std::map<std::string, int>& unnoticed = {});

}  // namespace stagecraft
