#include "sim/lowering/holder_groups.h"

namespace stagecraft {

HolderGroups DivideHolders(std::span<const int> devices, int stride, int zero_group) {
  HolderGroups groups;
  const auto step = static_cast<size_t>(stride);
  groups.all.resize(step);
  for (size_t i = 0; i < devices.size(); ++i) groups.all[i % step].push_back(devices[i]);
  const size_t size = zero_group > 0 ? static_cast<size_t>(zero_group) : devices.size();
  if (size == devices.size()) {  // no two ranks hold the same share
    groups.sharing = groups.all;
    return groups;
  }
  groups.sharing.resize(devices.size() / size * step);
  groups.copies.resize(size);
  for (size_t i = 0; i < devices.size(); ++i) {
    groups.sharing[i / size * step + i % step].push_back(devices[i]);
    groups.copies[i % size].push_back(devices[i]);
  }
  return groups;
}

}  // namespace stagecraft
