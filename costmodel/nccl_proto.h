// Reads NcclTuning from its file format, proto/nccl.proto.
#pragma once

#include <string>

#include "costmodel/nccl_tuning.h"
#include "proto/nccl.pb.h"

namespace stagecraft {

// Checks that every field is present and in range; throws an InputError that names `file`:
// "nccl.textproto: ring.base_us.ll: got 0, want > 0".
NcclTuning NcclTuningFromProto(const NcclTuningProto& proto, const std::string& file);

// Reads the text of a .textproto. Throws InputError if it does not parse.
NcclTuning ParseNcclTuning(const std::string& text, const std::string& file);

}  // namespace stagecraft
