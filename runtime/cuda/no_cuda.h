// The error that a build without CUDA throws.
#pragma once

#include <string>

#include "costmodel/check.h"

namespace stagecraft {

[[noreturn]] inline void RefuseCuda(const std::string& place) {
  throw InputError(
      place +
      ": got a CUDA device, want a build that has CUDA: this one was made where no GPU "
      "or no toolkit was found (CUDA_HOME says where a toolkit is)");
}

}  // namespace stagecraft
