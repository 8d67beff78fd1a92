// AttentionRefused: a run whose fused attention this GPU and its libraries do not do.
#pragma once

#include "costmodel/check.h"

namespace stagecraft {

// The library is there: the same plan with unfused attention may run.
class AttentionRefused : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace stagecraft
