#include "sim/plan/step_options.h"

#include <fmt/core.h>

#include "costmodel/divide.h"

namespace stagecraft {

const char* Name(Optimizer optimizer) {
  constexpr const char* kNames[] = {"adam", "sgd", "adam8bit", "sgd-plain"};
  return kNames[static_cast<int>(optimizer)];
}

Bytes OptimizerStates(Optimizer optimizer, int64_t working, int64_t parameters) {
  constexpr int64_t kWhole = 4;  // bytes of a master weight, a moment or a scale
  constexpr int64_t kBlock = 256;
  const int64_t master = working < kWhole ? kWhole * parameters : 0;
  switch (optimizer) {
    case Optimizer::kAdam:
      return Bytes(master + 2 * kWhole * parameters);
    case Optimizer::kSgd:
      return Bytes(master + kWhole * parameters);
    case Optimizer::kAdam8Bit:
      return Bytes(master + 2 * (parameters + kWhole * DivideUp(parameters, kBlock)));
    case Optimizer::kPlainSgd:
      return Bytes(master);
  }
  return Bytes();
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

std::string FindGpuError(const StepOptions& options, const Device& device) {
  if (options.precision == DType::kFp8 && options.fp8_recipe == Fp8Recipe::kMx &&
      !HasBlockScaling(device.generation)) {
    return fmt::format("fp8_recipe: {} has no GEMMs of block-scaled 8-bit numbers", device.name);
  }
  if (device.Peak(options.precision).flop_per_s() <= 0) {
    return fmt::format("precision: {} has no {} arithmetic", device.name, Name(options.precision));
  }
  return "";
}

}  // namespace stagecraft
