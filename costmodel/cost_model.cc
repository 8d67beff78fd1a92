#include "costmodel/cost_model.h"

namespace stagecraft {

const char* Name(Basis basis) {
  constexpr const char* kNames[] = {"measured",   "interpolated", "learned",
                                    "calibrated", "extrapolated", "analytical"};
  return kNames[static_cast<int>(basis)];
}

}  // namespace stagecraft
