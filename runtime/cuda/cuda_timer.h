// Times ops on one CUDA device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// One of the parts of a board that is split into several.
struct BoardPart {
  std::vector<int> multiprocessors;  // of each part; empty: the board is whole
  int part = 0;                      // which one
};

// Device `ordinal` as CUDA counts, or a part of it, whose ops run while the others idle. Throws
// InputError, a sentence that begins with `place`, where this build has no CUDA, where no driver or
// no such device is, where it cannot be split so, or where too little of its memory is left.
std::unique_ptr<OpTimer> MakeCudaOpTimer(int ordinal, const std::string& place,
                                         const BoardPart& part = {});

}  // namespace stagecraft
