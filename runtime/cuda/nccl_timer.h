// Times collectives between the CUDA devices of this host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Of two or more devices as CUDA counts, of one kind, each named once. An op is done by the first
// op.fabric.ranks of them, from this process, on buffers of 32-bit numbers that it finds as the
// last call left them; what the slowest device took counts. Throws InputError, a sentence that
// begins with `place`, where this build has no CUDA, the machine no NCCL, no driver or no such
// device, or where devices cannot be one group.
std::unique_ptr<OpTimer> MakeNcclOpTimer(const std::vector<int>& devices, const std::string& place);

}  // namespace stagecraft
