// Times collectives between the CUDA devices of this host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Makes a timer for two or more devices of one type, numbered as CUDA does, each named once. The
// first op.fabric.ranks of them run an op, all from this process, on buffers of 32-bit numbers
// whose contents are those that the last call left; the time of the slowest device counts. Throws
// an InputError, a sentence that begins with `place`, if this build has no CUDA, the machine has no
// NCCL, no driver or no such device, or if the devices cannot be one group.
std::unique_ptr<OpTimer> MakeNcclOpTimer(const std::vector<int>& devices, const std::string& place);

}  // namespace stagecraft
