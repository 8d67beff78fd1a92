// HolderGroups: which of a stage's data-parallel ranks hold the same parameters.
#pragma once

#include <span>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

struct HolderGroups {
  DeviceGroups all;      // each group adds up its gradients
  DeviceGroups sharing;  // the ranks of each group divide the parameters among them
  DeviceGroups copies;   // the ranks of each group hold copies of one share; empty: no copies
};

// `devices` lists the ranks, of which every `stride`-th holds the same parameters. All of these
// ranks divide the parameters among them or, with `zero_group` above 0, those within each
// `zero_group` consecutive ranks do.
HolderGroups DivideHolders(std::span<const int> devices, int stride, int zero_group);

}  // namespace stagecraft
