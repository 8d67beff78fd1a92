// NCCL's constants as they ship.
#pragma once

#include "costmodel/nccl_tuning.h"

namespace stagecraft {

// data/nccl_2.28.textproto, from inside the binary.
const NcclTuning& EmbeddedNcclTuning();

}  // namespace stagecraft
