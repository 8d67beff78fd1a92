#include "sim/step_options.h"

#include "costmodel/divide.h"

namespace stagecraft {

const char* Name(Optimizer optimizer) {
  constexpr const char* kNames[] = {"adam", "sgd"};
  return kNames[static_cast<int>(optimizer)];
}

const char* Name(ContextExchange exchange) {
  constexpr const char* kNames[] = {"ring", "gather", "ulysses"};
  return kNames[static_cast<int>(exchange)];
}

const char* Name(Fp8Recipe recipe) {
  constexpr const char* kNames[] = {"delayed", "current", "mx"};
  return kNames[static_cast<int>(recipe)];
}

Bytes CastBytes(Fp8Recipe recipe, int64_t elements) {
  const int64_t once = 4 * elements;  // two bytes in, one out, one out transposed
  switch (recipe) {
    case Fp8Recipe::kDelayed:
      return Bytes(once);
    case Fp8Recipe::kCurrent:
      return Bytes(once + 2 * elements);
    case Fp8Recipe::kMx:
      return Bytes(once + 2 * DivideUp(elements, 32));  // a scale byte each way
  }
  return Bytes();
}

}  // namespace stagecraft
