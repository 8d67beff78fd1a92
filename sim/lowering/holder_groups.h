// HolderGroups: which of a stage's data-parallel ranks hold the same parameters.
#pragma once

#include <span>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

struct HolderGroups {
  DeviceGroups all;      // each adds up its gradients
  DeviceGroups sharing;  // the ranks of each divide the parameters among them
  DeviceGroups copies;   // the ranks of each hold copies of one share; empty: nobody does
};

// `devices` are ranks in a row, of which every `stride`-th holds the same parameters. These
// ranks divide them among all of them or, with `zero_group` above 0, among so many ranks in a
// row.
HolderGroups DivideHolders(std::span<const int> devices, int stride, int zero_group);

}  // namespace stagecraft
