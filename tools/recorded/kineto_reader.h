// Reads the JSON that PyTorch's profiler (Kineto) writes, gzipped or not.
#pragma once

#include <string>

#include "tools/recorded/recording.h"

namespace stagecraft {

// Reads the file event by event: memory grows with the number of kernels, launches and operators,
// not with the text. Times are exact to the nanosecond. Kernels are not placed yet
// (kernel_places.h). Throws InputError for a file that is no trace of this kind, that has no
// kernel, and, unless `cut_off` says otherwise, for one that ends too early. The closing brackets
// may be missing after the last event, as programs that write as they go leave them out.
Recording ReadKineto(const std::string& path, CutOff cut_off);

}  // namespace stagecraft
