// Times ops on one CUDA device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// One part of a GPU that is divided into several.
struct GpuPart {
  std::vector<int> multiprocessors;  // of each part; empty: the GPU is not divided
  int part = 0;                      // index
};

// Makes a timer of ops on device `ordinal`, numbered as CUDA does, or on a part of it while the
// other parts idle. Throws an InputError, a sentence that begins with `place`, if this build has no
// CUDA, if there is no driver or no such device, if it cannot be divided as asked, or if it has too
// little free memory.
std::unique_ptr<OpTimer> MakeCudaOpTimer(int ordinal, const std::string& place,
                                         const GpuPart& part = {});

}  // namespace stagecraft
