// Times ops on one CUDA device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// One of the parts of a GPU that is split into several.
struct GpuPart {
  std::vector<int> multiprocessors;  // of each part; empty: the GPU is whole
  int part = 0;                      // which one
};

// Times ops on device `ordinal` in CUDA's order, or on a part of it while the other parts idle.
// Throws an InputError, a sentence that begins with `place`, if this build has no CUDA, if there is
// no driver or no such device, if it cannot be split like this, or if too little of its memory is
// left.
std::unique_ptr<OpTimer> MakeCudaOpTimer(int ordinal, const std::string& place,
                                         const GpuPart& part = {});

}  // namespace stagecraft
