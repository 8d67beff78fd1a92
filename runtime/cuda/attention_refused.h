// AttentionRefused: the fused attention of a run is not supported by this GPU and its libraries.
#pragma once

#include "costmodel/check.h"

namespace stagecraft {

// The library is there: the same plan with unfused attention may run.
class AttentionRefused : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace stagecraft
