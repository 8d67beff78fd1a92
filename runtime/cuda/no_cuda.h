// The error that a build without CUDA throws.
#pragma once

#include <string>

#include "costmodel/check.h"

namespace stagecraft {

[[noreturn]] inline void RefuseCuda(const std::string& place) {
  throw InputError(place +
                   ": got a CUDA device, want a build that has CUDA: no GPU or no CUDA toolkit was "
                   "found when this one was built (CUDA_HOME says where a toolkit is)");
}

}  // namespace stagecraft
