#include "tools/frameworks/deepspeed_partition.h"

namespace stagecraft {

std::vector<int> UniformPartition(int layers, int stages) {
  std::vector<int> counts(stages, layers / stages);
  for (int stage = 0; stage < layers % stages; ++stage) ++counts[stage];
  return counts;
}

std::vector<int> BalancedPartition(int layers, int stages) {
  const int blocks = layers - 2;
  std::vector<int> counts(stages, blocks / stages);
  for (int extra = 0; extra < blocks % stages; ++extra) ++counts[stages - 1 - extra];
  ++counts.front();
  ++counts.back();
  return counts;
}

}  // namespace stagecraft
