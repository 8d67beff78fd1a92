// AttentionRefused: the error of a run whose fused attention this GPU and its libraries do not
// support.
#pragma once

#include "costmodel/check.h"

namespace stagecraft {

// The library is installed, so the same plan may run with unfused attention.
class AttentionRefused : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace stagecraft
