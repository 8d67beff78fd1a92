#include "sim/plan/framework.h"

namespace stagecraft {

const char* Name(BackwardPrefetch prefetch) {
  return prefetch == BackwardPrefetch::kBefore ? "pre" : "post";
}

const char* Name(ParameterGather gather) {
  return gather == ParameterGather::kLayers ? "layers" : "tensors";
}

const char* Name(ParameterExchange exchange) {
  return exchange == ParameterExchange::kGather ? "gather" : "broadcasts";
}

const char* Name(ShardCopies copies) {
  constexpr const char* kNames[] = {"none", "gradients", "parameters"};
  return kNames[static_cast<int>(copies)];
}

}  // namespace stagecraft
