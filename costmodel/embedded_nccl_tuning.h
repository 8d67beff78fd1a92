// The constants of NCCL that ship with the binary.
#pragma once

#include "costmodel/nccl_tuning.h"

namespace stagecraft {

// Returns the constants of data/nccl_2.28.textproto, which the binary contains.
const NcclTuning& EmbeddedNcclTuning();

}  // namespace stagecraft
