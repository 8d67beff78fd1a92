// Refuse: reports what a device cannot do as an error of the request for it.
#pragma once

#include <string>

#include "runtime/cuda/attention_refused.h"
#include "runtime/cuda/device_op.h"

namespace stagecraft {

// Throws an InputError with the sentence and the reason; AttentionRefused if a library of fused
// attention is installed and refused it.
[[noreturn]] inline void Refuse(const std::string& sentence, const Unsupported& reason) {
  const std::string whole = sentence + ": " + reason.what();
  if (dynamic_cast<const AttentionUnsupported*>(&reason) != nullptr) throw AttentionRefused(whole);
  throw InputError(whole);
}

}  // namespace stagecraft
