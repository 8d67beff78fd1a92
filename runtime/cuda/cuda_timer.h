// Times ops on one CUDA device.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Device `ordinal` as CUDA counts. Throws InputError, a sentence that begins with
// `place`, where this build has no CUDA, where no driver or no such device is.
std::unique_ptr<OpTimer> MakeCudaOpTimer(int ordinal, const std::string& place);

}  // namespace stagecraft
